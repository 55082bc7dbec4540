package fuzz

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/strict"
)

// texts are candidates for the value of a field, in YAML. Which of them a type
// accepts is found out by decoding; each type that a conf is made of needs one.
var texts = []string{
	"0", "1", `"1.5"`, "2", "3", "50", "200", "301", "true", "false",
	"a", "/a", "b", "/b", "0s", "1s", "1m30s", "10Mbps", "50Kbps",
	"a:80", "http://a:80", "10.0.0.0/8", "spiffe://td/a", "spiffe://td/b",
	"5xx", "GatewayError", "Allow", "Deny", "AllowWithShadowDeny",
	"YQ==", `"name: a"`, `"name: b"`, "[1]", "{a: 1}",
}

// maxValues of a type: so few that values meet. An enumeration has all its
// words. Text that nothing restricts is often restricted by the struct around
// it: it has all texts, and the first ones half of the time.
const maxValues = 4

// alphabet has the values that each scalar type is made of.
type alphabet struct {
	texts  []string
	values map[reflect.Type][]reflect.Value
}

func newAlphabet(more []string) *alphabet {
	a := &alphabet{texts: append(more, texts...), values: map[reflect.Type][]reflect.Value{}}
	// Matches of requests are chosen whole, so that they meet each other and
	// the requests that are made.
	for _, match := range slices.Concat(requestMatches...) {
		var m conf.Match
		if decodes(asText(match), "", &m) {
			a.values[reflect.TypeOf(m)] = append(a.values[reflect.TypeOf(m)], reflect.ValueOf(m))
		}
	}
	return a
}

// isWhole reports whether values of a type are chosen, and not made of parts.
func (a *alphabet) isWhole(t reflect.Type) bool {
	_, chosen := a.values[t]
	return chosen || isScalar(t)
}

// of returns the values of a scalar type; there are none where no text is one.
func (a *alphabet) of(t reflect.Type) []reflect.Value {
	if known, ok := a.values[t]; ok {
		return known
	}
	max := maxValues
	words := words(t)
	switch {
	case len(words) > 0:
		max = len(words)
	case t == reflect.TypeFor[string]():
		max = len(a.texts)
	}
	var values []reflect.Value
	for _, text := range append(words, a.texts...) {
		if v := reflect.New(t); len(values) < max && decodes("v: "+text, "v", v.Interface()) && !contains(values, v.Elem()) {
			values = append(values, v.Elem())
		}
	}
	a.values[t] = values
	return values
}

// cover finds the values of every scalar type in t. It fails with the types
// that have none.
func (a *alphabet) cover(t reflect.Type) error {
	var without []string
	seen := map[reflect.Type]bool{}
	var visit func(t reflect.Type)
	visit = func(t reflect.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		if a.isWhole(t) {
			if len(a.of(t)) == 0 {
				without = append(without, t.String())
			}
			return
		}
		switch t.Kind() {
		case reflect.Map:
			visit(t.Key())
			visit(t.Elem())
		case reflect.Pointer, reflect.Slice:
			visit(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				visit(t.Field(i).Type)
			}
		}
	}
	visit(t)
	if without != nil {
		return fmt.Errorf("fuzz: no text is a value of %s; pass texts that are", strings.Join(without, ", "))
	}
	return nil
}

// words returns the words of an enumeration.
func words(t reflect.Type) []string {
	enum, ok := reflect.Zero(t).Interface().(strict.Enum)
	if !ok {
		return nil
	}
	var quoted []string
	for _, word := range enum.Enum() {
		quoted = append(quoted, fmt.Sprintf("%q", word))
	}
	return quoted
}

func contains(values []reflect.Value, v reflect.Value) bool {
	for _, other := range values {
		if reflect.DeepEqual(other.Interface(), v.Interface()) {
			return true
		}
	}
	return false
}

// decodes reads a field of a document into a pointer, or the document itself
// where the field is "".
func decodes(document, field string, target any) bool {
	var sink strict.Sink
	docs := strict.Parse("value", strict.Chunks([]byte(document), 1)[0], strict.DefaultLimits, &sink)
	if len(docs) != 1 {
		return false
	}
	at := docs[0].Root()
	if field != "" {
		at = at.Field(field)
	}
	return strict.Decode(at, target) && !sink.Failed()
}

// isScalar reports whether a type reads itself, or is of a basic kind.
func isScalar(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	if pointer.Implements(reflect.TypeFor[strict.Scalar]()) || pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return true
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer:
		return false
	}
	return true
}
