package fuzz

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// Difference compares two values as JSON. It returns "" for equal ones, and otherwise the
// JSON pointer of the first part that differs and a readable diff.
func Difference(want, got any) string {
	a, b := asTree(want), asTree(got)
	if reflect.DeepEqual(a, b) { // the diff takes longer than everything else in a comparison
		return ""
	}
	return fmt.Sprintf("at %q (-want +got):\n%s", firstDifference(a, b), cmp.Diff(a, b))
}

// asTree returns a value as the tree of its JSON; the numbers are json.Number.
func asTree(v any) (tree any) {
	decoder := json.NewDecoder(strings.NewReader(asText(v)))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return asText(v) // it has no JSON
	}
	return tree
}

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%#v, which has no JSON: %v", v, err)
	}
	return string(text)
}

// firstDifference returns the JSON pointer of the first part in which two
// unequal trees differ.
func firstDifference(want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		other, ok := got.(map[string]any)
		if !ok {
			return ""
		}
		all := maps.Clone(want)
		maps.Copy(all, other)
		for _, key := range slices.Sorted(maps.Keys(all)) {
			if !reflect.DeepEqual(want[key], other[key]) {
				return "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(key) + firstDifference(want[key], other[key])
			}
		}
	case []any:
		other, _ := got.([]any)
		for i := range min(len(want), len(other)) {
			if !reflect.DeepEqual(want[i], other[i]) {
				return fmt.Sprintf("/%d%s", i, firstDifference(want[i], other[i]))
			}
		}
	}
	return ""
}
