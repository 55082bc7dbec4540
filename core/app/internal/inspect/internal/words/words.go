package words

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// First returns the first of a list of names, and the number of further
// names.
func First(names []string) string {
	const shown = 5
	text := strings.Join(names[:min(shown, len(names))], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Item returns the field and the position of an item of a section.
func Item(o results.Origin, section *resource.Section) (field string, pos diag.Position) {
	p := o.Policy
	switch section {
	case p.Type.Gateway:
		if len(p.Gateway) > 0 {
			return fmt.Sprintf("to[%d]", o.Index), p.Gateway[o.Index].Pos
		}
		return fmt.Sprintf("to[%d]", o.Index), p.To[o.Index].Pos
	case p.Type.To:
		return fmt.Sprintf("to[%d]", o.Index), p.To[o.Index].Pos
	case p.Type.From:
		return fmt.Sprintf("from[%d]", o.Index), p.From[o.Index].Pos
	case p.Type.Rules:
		if len(p.Rules) == 0 { // a `from` item that is applied as a rule (SPEC 17.1)
			return fmt.Sprintf("from[%d]", o.Index), p.From[o.Index].Pos
		}
		return fmt.Sprintf("rules[%d]", o.Index), p.Rules[o.Index].Pos
	}
	return "default", p.DefaultPos
}

// Source returns file:line of a position, or "" if the resource was not read
// from a file.
func Source(pos diag.Position) string {
	if pos.Line == 0 {
		return pos.File
	}
	return fmt.Sprintf("%s:%d", pos.File, pos.Line)
}

func Port(port uint32) string { return strconv.FormatUint(uint64(port), 10) }

// OrNone joins names by commas; it returns "none" if there are none.
func OrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
