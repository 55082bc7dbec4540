package dump

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// Object is a message. Its methods take names of fields in snake case; the message has them in
// snake or in lower camel case.
type Object map[string]any

func (o Object) get(field string) any {
	if v, ok := o[field]; ok {
		return v
	}
	return o[camel(field)]
}

func camel(field string) string {
	words := strings.Split(field, "_")
	for i, word := range words[1:] {
		if word != "" {
			words[i+1] = strings.ToUpper(word[:1]) + word[1:]
		}
	}
	return strings.Join(words, "")
}

// Has reports whether the message has a field.
func (o Object) Has(field string) bool { return o.get(field) != nil }

// Object returns a field that is a message; nil if there is none.
func (o Object) Object(field string) Object { return objectOf(o.get(field)) }

// Text returns a field that is a text or the name of an enum.
func (o Object) Text(field string) string {
	text, _ := o.get(field).(string)
	return text
}

// Bool reports whether a field is true.
func (o Object) Bool(field string) bool {
	is, _ := o.get(field).(bool)
	return is
}

// Number returns a field that is a number.
func (o Object) Number(field string) int64 {
	switch n := o.get(field).(type) {
	case float64:
		return int64(n)
	case string: // JSON has numbers of 64 bits as texts
		var out int64
		for _, c := range n {
			if c < '0' || c > '9' || out > 1<<52 {
				return 0
			}
			out = out*10 + int64(c-'0')
		}
		return out
	}
	return 0
}

// List returns the messages of a repeated field.
func (o Object) List(field string) []Object {
	list, _ := o.get(field).([]any)
	return lists.Map(list, objectOf)
}

// Texts returns the texts of a repeated field.
func (o Object) Texts(field string) []string {
	list, _ := o.get(field).([]any)
	var out []string
	for _, v := range list {
		if text, ok := v.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// Names returns the names of the fields of the message, or the keys of a map, sorted.
func (o Object) Names() []string {
	return slices.Sorted(maps.Keys(o))
}

// Beside returns a field that is none of the given ones, such as one that a newer release has;
// "" if there is none.
func (o Object) Beside(fields ...string) string {
	for _, name := range o.Names() {
		if name != "@type" && !slices.ContainsFunc(fields, func(f string) bool { return name == f || name == camel(f) }) {
			return name
		}
	}
	return ""
}

// Typed returns the type of an Any without the package of URLs, and the message in it.
func (o Object) Typed() (name string, message Object) {
	name = o.Text("@type")
	name = name[strings.LastIndexByte(name, '/')+1:]
	if name == "udpa.type.v1.TypedStruct" || name == "xds.type.v3.TypedStruct" {
		name = o.Text("type_url")
		return name[strings.LastIndexByte(name, '/')+1:], o.Object("value")
	}
	return name, o
}

func objectOf(v any) Object {
	o, _ := v.(map[string]any)
	return o
}
