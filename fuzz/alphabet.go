package fuzz

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

// texts are candidates for the value of a field, in YAML. Decoding determines which of
// them a type accepts; each type of a field must accept at least one.
var texts = []string{
	"0", "1", `"1.5"`, "2", "3", "50", "200", "301", "true", "false",
	"a", "/a", "b", "/b", "0s", "1s", "1m30s", "10Mbps", "50Kbps",
	"a:80", "http://a:80", "10.0.0.0/8", "spiffe://td/a", "spiffe://td/b",
	"5xx", "GatewayError", "Allow", "Deny", "AllowWithShadowDeny",
	"YQ==", `"name: a"`, `"name: b"`, "[1]", "{a: 1}",
}

// maxValues is the number of values of a type. It is small, so that equal values are
// frequent. An enumeration has all its values. A plain string is often restricted by
// the Validate method of the struct that contains it, so it has all texts; half of
// the time it is one of the first maxValues.
const maxValues = 4

// alphabet contains the values of each scalar type.
type alphabet struct {
	texts  []string
	values map[reflect.Type][]reflect.Value
}

func newAlphabet(more []string) *alphabet {
	a := &alphabet{texts: append(more, texts...), values: map[reflect.Type][]reflect.Value{}}
	// Request matches are chosen as a whole, so that equal matches are frequent and
	// some requests match.
	for _, match := range slices.Concat(requestMatches...) {
		var m conf.Match
		if conf.Unmarshal([]byte(asText(match)), &m) == nil {
			a.values[reflect.TypeOf(m)] = append(a.values[reflect.TypeOf(m)], reflect.ValueOf(m))
		}
	}
	// Backends are chosen as a whole, so that some find destinations and endpoints.
	for _, backend := range backends {
		var b conf.BackendRef
		if conf.Unmarshal([]byte(asText(backend)), &b) == nil {
			a.values[reflect.TypeOf(b)] = append(a.values[reflect.TypeOf(b)], reflect.ValueOf(b))
		}
	}
	// References to collectors are chosen as a whole, so that some find one.
	for _, name := range names[:2] {
		byName := conf.CollectorRef{Kind: "MeshOpenTelemetryBackend", Name: &name}
		byLabels := conf.CollectorRef{Kind: "MeshOpenTelemetryBackend", Labels: map[string]string{"team": name}}
		a.values[reflect.TypeOf(byName)] = append(a.values[reflect.TypeOf(byName)], reflect.ValueOf(byName), reflect.ValueOf(byLabels))
	}
	return a
}

// isWhole reports whether values of a type are chosen from a list instead of
// being built from parts.
func (a *alphabet) isWhole(t reflect.Type) bool {
	_, chosen := a.values[t]
	return chosen || isScalar(t)
}

// valuesOf returns the values of a scalar type, or none if the type accepts no text.
func (a *alphabet) valuesOf(t reflect.Type) []reflect.Value {
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
		if len(values) == max {
			break
		}
		if v, err := decodeField(t, text); err == nil && !contains(values, v) {
			values = append(values, v)
		}
	}
	a.values[t] = values
	return values
}

// cover finds the values of every scalar type in t. It fails if a type has none.
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
			if len(a.valuesOf(t)) == 0 {
				without = append(without, a.whyNone(t))
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
		return fmt.Errorf("fuzz: no text is a value of %s; pass texts that are, in YAML, by WithTexts", strings.Join(without, " or of "))
	}
	return nil
}

// whyNone returns the name of a type without values, and the errors for the
// texts.
func (a *alphabet) whyNone(t reflect.Type) string {
	refused := refusals{}
	for _, text := range a.texts {
		if _, err := decodeField(t, text); err != nil {
			refused.add(t, err)
		}
	}
	return fmt.Sprintf("%s: they are refused %s", t, refused)
}

// words returns the values of an enumeration.
func words(t reflect.Type) []string {
	enum, ok := reflect.Zero(t).Interface().(interface{ Enum() []string })
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

// isScalar reports whether a type decodes itself, or is of a basic kind.
func isScalar(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	if _, decodes := pointer.MethodByName("DecodeAt"); decodes || pointer.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return true
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Slice, reflect.Map, reflect.Pointer:
		return false
	}
	return true
}
