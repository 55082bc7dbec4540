package source

import (
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// maxNamed is how many documents that are no resources a line names.
const maxNamed = 10

// NoResourceText returns how many documents are no resources, and the first of them.
func NoResourceText(at []diag.Position) string {
	named := lists.Map(at[:min(len(at), maxNamed)], func(pos diag.Position) string { return pos.File + ":" + strconv.Itoa(pos.Line) })
	text := diag.Count(len(at), "document") + " that are no resources: "
	if len(at) == 1 {
		text = "1 document that is no resource: "
	}
	text += strings.Join(named, ", ")
	if more := len(at) - len(named); more > 0 {
		text += ", and " + diag.Count(more, "more document")
	}
	return text
}
