package emit

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// keyed returns the name of the state of a list that merges by key. As it is
// filled from the highest priority, an element keeps the place of its first
// occurrence and lower ones are placed before it: the list grows at its front,
// the entries at their end.
func (e *emitter) keyed(rule ir.Keyed) string {
	v := rule.Elem.Value
	name, fresh := e.declare(keyedKey(rule), lower(keyedIdent(rule)+"ListState"), " is the state of merging a list of "+v.Name+"s by key.", func() string {
		return fmt.Sprintf(`at int32 // the highest item that has the list
			room []%s // the list is its end
			entries []*%s // from the last element to the first`, e.elem(rule), e.keyedEntry(rule))
	})
	if fresh {
		e.method(name, "fill", func() { e.keyedFill(name, rule) })
		e.keyedMethod(rule, "origins")
	}
	return name
}

func keyedKey(rule ir.Keyed) string { return fmt.Sprintf("keyed %p %t", rule.Elem, rule.Pointer) }

// keyedIdent returns the part that the type of the elements has in names.
func keyedIdent(rule ir.Keyed) string {
	if rule.Pointer {
		return rule.Elem.Value.Ident + "Ptr"
	}
	return rule.Elem.Value.Ident
}

// elem prints the type of the elements.
func (e *emitter) elem(rule ir.Keyed) string {
	if rule.Pointer {
		return "*" + e.typ(rule.Elem.Value)
	}
	return e.typ(rule.Elem.Value)
}

func (e *emitter) keyedEntry(rule ir.Keyed) string {
	name, _ := e.declare("entry "+keyedKey(rule), lower(keyedIdent(rule)+"Entry"), " is the state of merging one of the elements.", func() string {
		fields := "key uint64 // hash of the key\n"
		if rule.Pointer {
			fields += "value " + e.typ(rule.Elem.Value) + "\n"
		}
		return fields + "state " + e.structState(rule.Elem)
	})
	return name
}

// keyedFill prints fill and the search for an element with the key of x. It is a
// scan that compares hashes first, because such lists are short.
func (e *emitter) keyedFill(state string, rule ir.Keyed) {
	ref := "&"
	if rule.Pointer {
		ref = ""
	}
	e.add(state, "fill", e.expand(`func (s *{{.state}}) fill(list, lower []{{.elem}}, item int32) []{{.elem}} {
	if lower == nil {
		return list
	}
	if s.at == 0 {
		s.at = item
		list = []{{.elem}}{}
	}
	var fresh []{{.entry}}
	for i := len(lower) - 1; i >= 0; i-- {
		x := {{.ref}}lower[i]
		{{- if .pointer}}
		if x == nil {
			continue
		}
		{{- end}}
		key := {{.hash}}(x)
		at := s.find(list, x, key)
		if at < 0 {
			if fresh == nil {
				fresh = make([]{{.entry}}, i+1)
				s.entries = {{qual "slices" "Grow"}}(s.entries, i+1)
				s.room = {{support "mergeRoom"}}(s.room, len(list), i+1)
			}
			fresh[i].key = key
			at = len(s.entries)
			s.entries = append(s.entries, &fresh[i])
			list = s.room[len(s.room)-len(list)-1:]
			{{- if .pointer}}
			list[0] = &fresh[i].value
			{{- end}}
		}
		s.entries[at].state.fill({{.ref}}list[len(list)-1-at], x, item)
	}
	return list
}

// find returns the entry with the key of x, or -1.
func (s *{{.state}}) find(list []{{.elem}}, x *{{.struct}}, key uint64) int {
	for i, entry := range s.entries {
		if entry.key == key && {{.equal}}({{.ref}}list[len(list)-1-i], x) {
			return i
		}
	}
	return -1
}`, parts{
		"state": state, "elem": e.elem(rule), "struct": e.typ(rule.Elem.Value), "entry": e.keyedEntry(rule), "pointer": rule.Pointer, "ref": ref,
		"hash": e.keyFunction("hash", rule.Elem), "equal": e.keyFunction("equal", rule.Elem),
	}))
}

// keyFunction requests the function that hashes or compares the keys of elements
// and returns its name.
func (e *emitter) keyFunction(operation string, s *ir.Struct) string {
	name, fresh := e.names.of(fmt.Sprintf("%s key %p", operation, s), operation+s.Value.Ident+"Key")
	if !fresh {
		return name
	}
	e.queue = append(e.queue, func() {
		typ := e.typ(s.Value)
		var equal, hash []string
		for _, f := range s.Fields {
			if !slices.Contains(s.Keys, f.Name) {
				continue
			}
			v := f.Rule.(ir.Replace).Value
			if operation == "hash" {
				hash = append(hash, e.hash(v, "&d", "v."+f.Name))
			} else {
				equal = append(equal, e.equal(v, "a."+f.Name, "b."+f.Name))
			}
		}
		if operation == "hash" {
			e.hashes = append(e.hashes, fmt.Sprintf("func %s(v *%s) uint64 %s", name, typ, block(digest(hash...))))
		} else {
			e.equals = append(e.equals, fmt.Sprintf("func %s(a, b *%s) bool %s", name, typ, block("return "+and(equal))))
		}
	})
	return name
}

// keyedMethod requests top, origins or leaves of such a list. The leaf is the
// element; only origins depends on the items of its parts.
func (e *emitter) keyedMethod(rule ir.Keyed, method string) {
	name := e.keyed(rule)
	if method != "origins" {
		e.structTop(rule.Elem)
	}
	e.method(name, method, func() {
		body := e.ifEmpty("len(s.entries) == 0", method)
		switch method {
		case "top":
			body += topOfEntries("entry.state.top()")
		case "origins":
			body += originsOfEntries("entry.state.origins(dst, base)")
		case "leaves":
			body += fmt.Sprintf(`for i := range s.entries {
				entry := s.entries[len(s.entries)-1-i]
				if !yield(path + "/" + %s(i), int(entry.state.top())-1) {
					return false
				}
			}
			return true`, qual("strconv", "Itoa"))
		}
		e.addPart(name, method, body)
	})
}
