package meshkinds_test

import (
	"testing"

	"example.com/meshkinds"

	"github.com/meshmatch/meshmatch/fuzz"
)

// CheckKind compares the generated code of a kind, and the decoding and merging of
// its policies, with the reference.
func TestKinds(t *testing.T) {
	for _, kind := range meshkinds.Kinds() {
		t.Run(kind.Name, func(t *testing.T) { fuzz.CheckKind(t, kind) })
	}
}
