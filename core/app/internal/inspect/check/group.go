package check

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// maxExamples is the number of places of a group after its first one.
const maxExamples = 3

// Group is the findings with one cause (SPEC 13.5): the first of them, how many there are, and
// some of the others.
type Group struct {
	diag.Diagnostic
	Count    int
	Examples []diag.Diagnostic
}

// Grouped returns the groups of findings, in the order of their first ones.
func Grouped(findings []diag.Diagnostic) []Group {
	groups := make([]Group, 0, len(findings))
	index := map[string]int{}
	for _, d := range findings {
		cause := d.Code.String() + "\x00" + d.Cause
		i, known := index[cause]
		if !known || d.Cause == "" {
			index[cause] = len(groups)
			groups = append(groups, Group{Diagnostic: d, Count: 1})
			continue
		}
		if groups[i].Count++; len(groups[i].Examples) < maxExamples {
			groups[i].Examples = append(groups[i].Examples, d)
		}
	}
	return groups
}

// Line returns the line of the first finding, with the number and the places of the others.
func (g *Group) Line() string {
	if g.Count == 1 {
		return g.Diagnostic.Line()
	}
	places := lists.MapPointers(g.Examples, func(d *diag.Diagnostic) string { return d.Pos.String() })
	more := ""
	if g.Count-1 > len(places) {
		more = ", ..."
	}
	return fmt.Sprintf("%s (%d with one cause, also at %s%s) [%s]", g.Error(), g.Count, strings.Join(places, ", "), more, g.Code)
}

// example is a further finding of a group in JSON.
type example struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Path    string `json:"path"`
	Message string `json:"message"`
}

// MarshalJSON returns the fields of the first finding and, if there are others, {"count",
// "examples"}.
func (g Group) MarshalJSON() ([]byte, error) {
	first, err := json.Marshal(g.Diagnostic)
	if err != nil || g.Count == 1 {
		return first, err
	}
	examples := lists.MapPointers(g.Examples, func(d *diag.Diagnostic) example {
		return example{d.Pos.File, d.Pos.Line, d.Pos.Column, d.Path, d.Message()}
	})
	rest, err := json.Marshal(struct {
		Count    int       `json:"count"`
		Examples []example `json:"examples"`
	}{g.Count, examples})
	return append(append(first[:len(first)-1], ','), rest[1:]...), err
}
