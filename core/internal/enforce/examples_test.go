package enforce_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/golden"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestExamples evaluates the examples of proposal 003. UPDATE=1 writes the
// results into the files.
func TestExamples(t *testing.T) {
	golden.Archives(t, "testdata/examples/*.txtar", func(t *testing.T, archive *txtar.Archive) golden.Answer {
		hub := &archive.Files[0]
		state := stateOf(load(t, string(hub.Data)))
		return func(_ *testing.T, f *txtar.File) (string, bool) {
			return targets(state, "policies", "test-policy-1"), f != hub
		}
	})
}

func load(t testing.TB, text string) *ocm.Resources {
	t.Helper()
	return ocm.Read(loadSet(t, text))
}

func loadSet(t testing.TB, text string) *resource.Set {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
	set, err := loader.Decode(t.Context(), resource.Input{Name: "hub.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// targets returns a line for each cluster of a policy: its name, the action and the
// bindings that cause the action.
func targets(state *enforce.Hub, namespace, policy string) string {
	var b strings.Builder
	for effect := range state.Effects() {
		if effect.Policy.Namespace != namespace || effect.Policy.Name != policy {
			continue
		}
		for cluster, target := range state.Targets(effect) {
			fmt.Fprintln(&b, cluster, target.Action, strings.Join(target.Because, " "))
		}
	}
	return b.String()
}
