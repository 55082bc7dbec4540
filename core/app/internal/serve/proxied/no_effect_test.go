package proxied_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/xds"
)

// Every field that a warning is about is marked where it is shown, and a mark has its
// reason from a warning, in all meshes of the tests of this package and of the translators.
func TestNoEffectMarksWhatWarningsName(t *testing.T) {
	var archives []string
	envoy := envoyPackages(t)
	for _, pattern := range []string{"snapshot/testdata/*.txtar", "translators/testdata/*.txtar"} {
		found, err := filepath.Glob(filepath.Join(envoy, pattern))
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		archives = append(archives, found...)
	}
	dataplanes, err := os.ReadFile(filepath.Join(envoy, "translators/testdata/dataplanes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	marked := 0
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		mesh := string(archive.Files[0].Data)
		if strings.Contains(name, "translators/testdata") {
			mesh = string(dataplanes) + "\n---\n" + mesh
		}
		state := stateOf(t, mesh)
		view := state.View()
		for _, mesh := range view.Meshes() {
			for _, d := range view.Dataplanes(mesh) {
				answer, _ := inspect.NewDataplane(view, d, inspect.Options{Explain: true, NoEffect: proxied.NoEffect(state, d)}) // past a limit it has the rest
				data, err := json.Marshal(answer)
				if err != nil {
					t.Fatal(err)
				}
				text := string(data)
				for _, w := range state.Snapshot(d, xds.Envoy).Warnings() {
					reason, _ := json.Marshal(w.Message)
					if w.Policy == nil || w.Advice || w.Weakens || w.Field == "" || w.Policy.Kind == permission.KindName {
						continue // the entries of permissions are no fields
					}
					if !strings.Contains(text, `"kri":"`+w.Policy.KRI()+`"`) {
						continue // of a rule that is not shown
					}
					if !strings.Contains(text, strings.Trim(string(reason), `"`)) {
						t.Errorf("%s: %s: %s is not marked", name, d.Name, w)
						continue
					}
					marked++
				}
			}
		}
	}
	if marked == 0 {
		t.Error("no mesh has a field without effect")
	}
}
