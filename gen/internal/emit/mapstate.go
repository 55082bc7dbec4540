package emit

import (
	"fmt"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// mapState returns the name of the state of a map that merges by key: for
// each key the item that set the entry, or the slot of the struct that the
// entry is.
func (e *emitter) mapState(rule ir.Map) string {
	ident := rule.Elem.Ident + "By" + rule.Key.Ident
	name, fresh := e.declare(fmt.Sprintf("map %p %p", rule.Key, rule.Elem), lower(ident)+"State", " is the state of merging a map by key.", func() string {
		return "at int32 // the highest item that has the map\nentries " + e.entries(rule)
	})
	if fresh {
		e.method(name, "fill", func() { e.mapFill(name, rule) })
		e.mapMethod(rule, "origins")
	}
	return name
}

// entries prints the type of the map from keys to the states of their entries.
func (e *emitter) entries(rule ir.Map) string {
	if rule.Struct == nil {
		return "map[" + e.typ(rule.Key) + "]int32"
	}
	return "map[" + e.typ(rule.Key) + "]*" + e.slot(rule.Struct)
}

func (e *emitter) mapFill(state string, rule ir.Map) {
	parts := parts{
		"state": state, "map": "map[" + e.typ(rule.Key) + "]" + e.typ(rule.Elem), "entries": e.entries(rule), "nilable": nilable(rule.Elem),
		"from": "&x", "merged": "entry.value",
	}
	if rule.Elem.Kind == ir.Pointer {
		parts["from"], parts["merged"] = "x", "&entry.value"
	}
	if rule.Struct != nil {
		parts["slot"], parts["struct"] = e.slot(rule.Struct), e.typ(rule.Struct.Value)
	}
	e.add(state, "fill", e.expand(`func (s *{{.state}}) fill(m, lower {{.map}}, item int32) {{.map}} {
	if lower == nil {
		return m
	}
	if s.at == 0 {
		s.at = item
		m = make({{.map}}, len(lower))
		s.entries = make({{.entries}}, len(lower))
	}
	for k, x := range lower {
		{{- if .nilable}}
		if x == nil {
			continue
		}
		{{- end}}
		{{- if .slot}}
		entry := s.entries[k]
		if entry == nil {
			entry = new({{.slot}})
			s.entries[k] = entry
		}
		var v *{{.struct}}
		entry.fill(&v, {{.from}}, item)
		m[k] = {{.merged}}
		{{- else}}
		if s.entries[k] == 0 {
			m[k], s.entries[k] = x, item
		}
		{{- end}}
	}
	return m
}`, parts))
}

// nilable reports whether a value can be nil, which means that it is not set.
func nilable(v *ir.Value) bool { return v.Kind == ir.Pointer || v.Kind == ir.List || v.Nilable }

// mapMethod requests top, origins or leaves of such a map. The leaf is the entry.
func (e *emitter) mapMethod(rule ir.Map, method string) {
	name := e.mapState(rule)
	top := ""
	if rule.Struct != nil {
		top = ".top()"
		if method == "origins" {
			e.slotMethod(rule.Struct, "origins")
		} else {
			e.slotMethod(rule.Struct, "top")
		}
	}
	e.method(name, method, func() {
		body := e.ifEmpty("len(s.entries) == 0", method)
		switch method {
		case "top":
			body += topOfEntries("entry" + top)
		case "origins":
			if rule.Struct != nil {
				body += originsOfEntries("entry.origins(dst, base)")
			} else {
				body += originsOfEntries(e.addOrigin("entry"))
			}
		case "leaves":
			body += fmt.Sprintf(`for _, k := range %s(%s(s.entries)) {
				if !yield(path + "/" + %s, int(s.entries[k]%s)-1) {
					return false
				}
			}
			return true`, qual("slices", "Sorted"), qual("maps", "Keys"), e.call("mergeEscape", convert(rule.Key, "string", "k")), top)
		}
		e.addPart(name, method, body)
	})
}
