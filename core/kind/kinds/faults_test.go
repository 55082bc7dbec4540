package kinds_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/kindtest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// free are the fields whose keys and values the user chooses.
var free = []string{"tags", "labels"}

// anything are the fields with arbitrary JSON values, which cannot be faulty.
var anything = []string{"body", "jsonPatches"}

// A document with all fields of a kind gets one fault at each of its places in turn: an
// unknown field, a list or a mapping instead of a value, or a value instead of a list or
// a mapping. Each fault is an error at its place.
func TestEachFaultIsFoundAtItsPlace(t *testing.T) {
	faults := 0
	for _, kind := range kinds.All().All() {
		for _, document := range fullDocuments(t, kind.Name) {
			if err := decode(document); err != nil {
				t.Fatal(err)
			}
			spec := document.(map[string]any)["spec"]
			walk("spec", spec, func(at string, set func(any), value any) {
				for _, fault := range faultsOf(at, value) {
					faults++
					set(fault.value)
					if err := decode(document); err == nil || !strings.Contains(err.Error(), " "+at) {
						t.Errorf("%s: %s: error %v, want one at %s", kind.Name, fault.what, err, at)
					}
					set(value)
				}
			})
		}
	}
	if faults < 2000 {
		t.Errorf("only %d faults were tried", faults)
	}
}

type fault struct {
	what  string
	value any
}

// faultsOf returns values that a place cannot have.
func faultsOf(at string, value any) []fault {
	switch value := value.(type) {
	case map[string]any:
		faults := []fault{{"a number instead of a mapping", 7}, {"a list instead of a mapping", []any{7}}}
		if !slices.Contains(free, fieldOf(at)) {
			more := maps.Clone(value)
			more["noSuchField"] = 1
			faults = append(faults, fault{"an unknown field", more})
		}
		return faults
	case []any:
		return []fault{{"a number instead of a list", 7}, {"a mapping instead of a list", map[string]any{"noSuchField": 1}}}
	}
	return []fault{{"a list instead of a value", []any{[]any{}}}, {"a mapping instead of a value", map[string]any{"noSuchField": 1}}}
}

// fieldOf returns the last field of a path.
func fieldOf(at string) string {
	field, _, _ := strings.Cut(at[strings.LastIndexByte(at, '.')+1:], "[")
	return field
}

// walk visits each value with its path and a function that sets it.
func walk(at string, value any, visit func(at string, set func(any), value any)) {
	child := func(at string, set func(any), value any) {
		if !slices.Contains(anything, fieldOf(at)) {
			visit(at, set, value)
			walk(at, value, visit)
		}
	}
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if strings.ContainsAny(key, "./ ") {
				continue // a key of the user
			}
			child(at+"."+key, func(v any) { value[key] = v }, value[key])
		}
	case []any:
		for i := range value {
			child(fmt.Sprintf("%s[%d]", at, i), func(v any) { value[i] = v }, value[i])
		}
	}
}

// fullDocuments returns the policies of a kind that have all of its fields.
func fullDocuments(t *testing.T, kind string) []any {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "xds", "translators", "testdata", "fields", kind+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return kindtest.Documents(t, data)
}

func decode(document any) error {
	data, err := json.Marshal(document)
	if err != nil {
		return err
	}
	loader := resource.Loader{Kinds: kinds.All()}
	_, err = loader.Decode(context.Background(), resource.Input{Name: "p.json", Data: data})
	return err
}
