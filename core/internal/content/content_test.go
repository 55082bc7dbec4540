package content_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/content"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestDiffer: a position is no content, each other part is.
func TestDiffer(t *testing.T) {
	mesh := func(name, file string) *resource.Mesh {
		return &resource.Mesh{Meta: resource.Meta{ID: resource.ID{Kind: resource.MeshKind, Name: name}, Pos: diag.Position{File: file}}}
	}
	for name, test := range map[string]struct {
		a, b any
		want bool
	}{
		"equal":           {mesh("a", "f"), mesh("a", "f"), false},
		"other position":  {mesh("a", "f"), mesh("a", "g"), false},
		"other name":      {mesh("a", "f"), mesh("b", "f"), true},
		"one is absent":   {mesh("a", "f"), nil, true},
		"inside of lists": {[]*resource.Mesh{mesh("a", "f")}, []*resource.Mesh{mesh("a", "g")}, false},
		"other lists":     {[]*resource.Mesh{mesh("a", "f")}, []*resource.Mesh{}, true},
	} {
		if got := content.Differ(test.a, test.b); got != test.want {
			t.Errorf("%s: Differ is %v", name, got)
		}
	}
}
