package enforce_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core/enforce"
	"github.com/meshmatch/meshmatch/core/enforce/enforcetest"
	"github.com/meshmatch/meshmatch/core/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestExamples evaluates the examples of proposal 003. UPDATE=1 writes the
// results into the files.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/examples/*.txtar")
	if err != nil || len(files) != 5 {
		t.Fatalf("there are %d examples, not five (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			state := enforcetest.State(load(t, string(archive.Files[0].Data)))
			got := targets(state, "policies", "test-policy-1")
			if os.Getenv("UPDATE") != "" {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[1].Data), got); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
		})
	}
}

func load(t testing.TB, text string) *ocm.Resources {
	t.Helper()
	return ocm.Read(loadSet(t, text))
}

func loadSet(t testing.TB, text string) *resource.Set {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All(), Documents: ocm.Documents()}
	set, err := loader.Decode(resource.Input{Name: "hub.yaml", Data: []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// targets prints a line for each cluster of a policy: its name, the action and
// the bindings that caused it.
func targets(state *enforce.State, namespace, policy string) string {
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
