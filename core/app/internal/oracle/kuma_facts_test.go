package oracle

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestKumaFacts compares the answers for the input of each fact about Kuma with the
// answers of the reference, in the versions for which the fact holds. The command line's
// test with this name checks the facts themselves.
func TestKumaFacts(t *testing.T) {
	paths, err := filepath.Glob("../../../../testdata/kuma-facts/*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("there are no facts: %v", err)
	}
	compared := 0
	for _, name := range paths {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			if path.Ext(file.Name) != ".yaml" || strings.HasPrefix(file.Name, "invalid") {
				continue
			}
			for version, s := range map[string]semantics.Semantics{"2.14": semantics.Kuma, "3.0": semantics.Kuma3} {
				_, versions, _ := strings.Cut(string(archive.Comment), "# versions: ")
				if versions, _, _ = strings.Cut(versions, "\n"); !strings.Contains(versions, version) {
					continue
				}
				compared++
				if err := compareFile(t.Context(), s, file); err != nil {
					t.Errorf("%s, %s, version %s: %v", name, file.Name, version, err)
				}
			}
		}
	}
	if compared == 0 {
		t.Error("no input is compared")
	}
}

func compareFile(ctx context.Context, s semantics.Semantics, file txtar.File) error {
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Decode(ctx, resource.Input{Name: file.Name, Data: file.Data})
	if err != nil {
		return err
	}
	a, err := reading(s)(loader.Kinds, set)
	if err != nil {
		return err
	}
	in := &comparison{kinds: loader.Kinds, set: set}
	for _, check := range []func(*comparison) error{(*comparison).compareAnswers, (*comparison).compareAccess} {
		if err := checkDataplanes(a, in, nil, check); err != nil {
			return err
		}
	}
	return nil
}
