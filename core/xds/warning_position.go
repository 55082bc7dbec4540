package xds

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Diagnostic returns the warning with its position in a file.
func (w Warning) Diagnostic() diag.Diagnostic {
	if w.Policy == nil {
		return diag.Diagnostic{Code: w.Code, What: w.Place + ": " + w.Message}
	}
	d := diag.Diagnostic{Code: w.Code, Pos: w.Policy.Pos, Path: "spec." + w.array, What: fmt.Sprintf("%s (%s)", w.Message, w.Place)}
	inline := false
	switch w.array {
	case "default":
		d.Pos = cmp.Or(w.Policy.DefaultPos, d.Pos)
	default:
		d.Path += fmt.Sprintf("[%d]", w.Index)
		var pos []diag.Position
		for _, item := range map[string][]resource.Item{"to": w.Policy.To, "from": w.Policy.From}[w.array] {
			pos = append(pos, item.Pos)
		}
		for _, rule := range w.Policy.Rules {
			if w.array == "rules" {
				pos = append(pos, rule.Pos)
			}
		}
		if w.Index < len(pos) {
			d.Pos = pos[w.Index]
		}
		inline = w.array == "to" && w.Policy.Type.To.Inline
		if !inline {
			d.Path += ".default"
		}
	}
	for _, part := range strings.Split(strings.TrimPrefix(w.Field, "/"), "/") {
		switch {
		case part == "":
		case strings.Trim(part, "0123456789") == "":
			d.Path += "[" + part + "]"
		default:
			d.Path += "." + part
		}
	}
	return d
}
