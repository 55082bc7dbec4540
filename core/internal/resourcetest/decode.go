package resourcetest

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Decode returns the resources of a text, with policies of the built-in kinds. Their positions
// are in the file mesh.yaml.
func Decode(t testing.TB, text string) *resource.Set {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}
