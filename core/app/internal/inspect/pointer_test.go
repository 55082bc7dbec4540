package inspect_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
)

func TestLookup(t *testing.T) {
	var tree any
	if err := json.Unmarshal([]byte(`{"a": {"b/c": 1, "d~e": [2, {"f": null}], "0": 3}}`), &tree); err != nil {
		t.Fatal(err)
	}
	for pointer, want := range map[string]any{
		"":             tree,
		"/a/b~1c":      1.0,
		"/a/d~0e/0":    2.0,
		"/a/0":         3.0,
		"/a/d~0e/1/f":  nil,
		"/a/d~0e/2":    nil,
		"/a/d~0e/-1":   nil,
		"/a/d~0e/x":    nil,
		"/a/b~1c/more": nil,
		"/nowhere":     nil,
	} {
		if diff := cmp.Diff(want, inspect.Lookup(tree, pointer)); diff != "" {
			t.Errorf("%q: %s", pointer, diff)
		}
	}
}

func TestComparePointers(t *testing.T) {
	want := []string{"", "/a", "/a/2", "/a/10", "/a/10/b", "/a/x", "/b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, inspect.ComparePointers)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
