package resource_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// noResources are documents of repositories of users of Kuma that are no resources, by the
// files in which they are.
var noResources = map[string]string{
	"values.yaml":             "replicaCount: 3\nimage: {repository: web, tag: v1}\nkuma: {enabled: true}\n",
	"package.json":            `{"name": "site", "version": "1.0.0", "scripts": {"test": "jest"}, "dependencies": {}}`,
	"patch.yaml":              "- {op: replace, path: /spec/replicas, value: 3}\n- {op: remove, path: /metadata/labels}\n",
	"list.json":               `["a", 1, null]`,
	"matrix.yaml":             "- {type: unit, run: make test}\n- {kind: lint}\n",
	"docker-compose.yml":      "services: {web: {image: nginx}}\n",
	"ci.yaml":                 "name: ci\non: [push]\njobs: {test: {runs-on: ubuntu-latest}}\n",
	"openapi.yaml":            "openapi: 3.0.0\ninfo: {title: a}\npaths: {}\n",
	"dashboard.json":          `{"title": "mesh", "panels": [{"type": "graph"}], "templating": {}}`,
	"skaffold-values.yaml":    "a: &x {b: 1}\nc: *x\n",
	"text.yaml":               "only a text\n",
	"number.json":             "3\n",
	"prometheus.rules.yml":    "groups: [{name: g, rules: []}]\n",
	"helmfile-bases.yaml":     "environments: {prod: {}}\n---\nreleases: []\n",
	".hidden/permission.yaml": "type: Nothing\n",
}

const repositoryPolicy = "{type: MeshTimeout, name: %s, spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h}}]}}\n"

// What is no resource changes nothing, wherever a directory has it and however many documents
// of a file are resources; it is counted, and a strict load refuses it (SPEC 1.1).
func TestRepositories(t *testing.T) {
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range noResources {
			if !yield(name) {
				return
			}
		}
	})
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		dir, policies, foreign := t.TempDir(), 0, 0
		for range 1 + r.IntN(6) {
			path := filepath.Join(dir, []string{".", "a", "a/b", "deploy"}[r.IntN(4)], fmt.Sprint("p", policies, ".yaml"))
			text := fmt.Sprintf(repositoryPolicy, fmt.Sprint("p", policies))
			policies++
			if r.IntN(3) == 0 {
				text, foreign = "notes: [a]\n---\n"+text, foreign+1
			}
			writeFile(t, path, text)
		}
		for range r.IntN(8) {
			name := names[r.IntN(len(names))]
			path := filepath.Join(dir, []string{".", "a", "a/b", "charts"}[r.IntN(4)], name)
			if _, err := os.Stat(path); err == nil {
				continue
			}
			writeFile(t, path, noResources[name])
			if name[0] != '.' {
				foreign += 1 + strings.Count(noResources[name], "\n---")
			}
		}
		loader := resource.Loader{Kinds: kinds.All()}
		set, err := loader.Load(t.Context(), dir)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(set.Policies) != policies || len(set.NoResources) != foreign {
			t.Errorf("seed %d: %d policies and %d documents that are no resources, want %d and %d", seed, len(set.Policies), len(set.NoResources), policies, foreign)
		}
		loader.Strict = true
		if _, err := loader.Load(t.Context(), dir); (err != nil) != (foreign > 0) {
			t.Errorf("seed %d: a strict load of %d such documents returns %v", seed, foreign, err)
		}
	}
}

// A document of a directory that has a field of a resource never vanishes: it is a resource, is
// counted, or is an error.
func TestNothingVanishesFromARepository(t *testing.T) {
	values := map[string]string{
		"type": "MeshTimeout", "kind": "MeshTimeout", "apiVersion": "kuma.io/v1alpha1", "mesh": "default",
		"metadata": "{name: p}", "spec": "{to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h}}]}", "name": "p", "replicas": "3",
	}
	names := []string{"type", "kind", "apiVersion", "mesh", "metadata", "spec", "name", "replicas"}
	for fields := range 1 << len(names) {
		var text strings.Builder
		for i, name := range names {
			if fields>>i&1 == 1 {
				fmt.Fprintf(&text, "%s: %s\n", name, values[name])
			}
		}
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "a.yaml"), text.String())
		set, err := (&resource.Loader{Kinds: kinds.All()}).Load(t.Context(), dir)
		none := fields&(1<<6-1) == 0
		switch {
		case text.Len() == 0:
		case none && (err != nil || len(set.NoResources) != 1):
			t.Errorf("%q is not left out: %v", text.String(), err)
		case !none && err == nil && len(set.Policies) != 1:
			t.Errorf("%q vanishes", text.String())
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
