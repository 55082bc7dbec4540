package scenario

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
	"github.com/meshmatch/meshmatch/gen/internal/load"
)

// Scenario is a scenario file.
type Scenario struct {
	Name    string
	Dir     string // of the package
	file    string
	archive *txtar.Archive
}

// All returns the scenarios in testdata of the package under test, which must be in
// gen/internal.
func All(t *testing.T) []Scenario {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	var all []Scenario
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		dir, err := filepath.Abs(filepath.Join("..", "scenario", name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Scenario{Name: name, Dir: dir, file: file, archive: archive})
	}
	return all
}

// Config returns the configuration that loads the packages of scenarios.
func Config(all []Scenario) load.Config {
	cfg := load.Config{Overlay: make(map[string][]byte)}
	for _, s := range all {
		cfg.Patterns = append(cfg.Patterns, s.Dir)
		for _, f := range s.archive.Files {
			if !strings.HasPrefix(f.Name, "want/") {
				cfg.Overlay[filepath.Join(s.Dir, f.Name)] = f.Data
			}
		}
	}
	return cfg
}

// Load loads the packages of scenarios.
func Load(t *testing.T, all []Scenario, problems *diag.List) []*load.Package {
	t.Helper()
	packages, err := load.Load(Config(all), problems)
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

// Expect compares a result with a file of the scenario. With the environment
// variable UPDATE it writes the result into the scenario instead.
func (s Scenario) Expect(t *testing.T, name, got string) {
	t.Helper()
	i := slices.IndexFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == name })
	switch update := os.Getenv("UPDATE") != ""; {
	case i >= 0 && string(s.archive.Files[i].Data) == got:
	case !update && i < 0:
		t.Errorf("%s has no %s; run go test with UPDATE=1", s.file, name)
	case !update:
		t.Errorf("%s: %s (-want +got):\n%s", s.file, name, cmp.Diff(string(s.archive.Files[i].Data), got))
	default:
		if i < 0 {
			s.archive.Files = append(s.archive.Files, txtar.File{Name: name})
			i = len(s.archive.Files) - 1
		}
		s.archive.Files[i].Data = []byte(got)
		if err := os.WriteFile(s.file, txtar.Format(s.archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// ExpectErrors compares the problems in each scenario with its want/errors.
func ExpectErrors(t *testing.T, all []Scenario, problems *diag.List) {
	t.Helper()
	for _, s := range all {
		t.Run(s.Name, func(t *testing.T) {
			var lines strings.Builder
			for _, d := range problems.Sorted() {
				if line, ok := strings.CutPrefix(d.String(), s.Dir+string(filepath.Separator)); ok {
					lines.WriteString(line + "\n")
				}
			}
			s.Expect(t, "want/errors", lines.String())
		})
	}
}
