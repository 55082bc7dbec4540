package cli

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/fuzz"
)

// One stored object ends no command (SPEC 1.2), whatever field of any kind has another value than
// this version knows.
func TestStoredObjectsEndNoCommand(t *testing.T) {
	edit := filepath.Join(t.TempDir(), "edit.yaml")
	const permission = `
type: MeshTrafficPermission
mesh: default
name: added
spec: {targetRef: {kind: Dataplane, labels: {app: shop-0}}, rules: [{default: {allow: [{spiffeID: {type: Exact, value: 'spiffe://default.west.mesh.local/ns/batch/sa/report'}}]}}]}
`
	if err := os.WriteFile(edit, []byte(permission), 0o600); err != nil {
		t.Fatal(err)
	}
	rounds := 2 * fuzz.Soak(t)
	if testing.Short() {
		rounds = 1
	}
	for _, kubernetes := range []bool{true, false} {
		for _, kind := range newExported(kubernetes, "", 1, 1).Kinds() {
			for round := range rounds {
				r := rand.New(rand.NewPCG(uint64(round), uint64(len(kind))))
				world := newExported(kubernetes, "", 1, 1)
				what := world.Break(kind, r)
				file := filepath.Join(t.TempDir(), "world.yaml")
				if err := os.WriteFile(file, world.YAML(), 0o600); err != nil {
					t.Fatal(err)
				}
				for _, command := range [][]string{{"check"}, {"reach"}, {"get", "dp"}, {"diff", "--apply", edit}} {
					var stdout, stderr strings.Builder
					code := (Program{}).run(t.Context(), append(command, "-f", file), nil, &stdout, &stderr)
					if code != exitDone && (command[0] != "diff" || code != exitNo) || strings.Contains(stderr.String(), "panic") {
						t.Errorf("kubernetes=%t, %s: %s: exit status %d: %s", kubernetes, what, command[0], code, stderr.String())
					}
				}
			}
		}
	}
}

// A policy of any kind without items, or with what this version does not know in their place, ends
// no command: Kuma stores policies without items (SPEC 2.4).
func TestPoliciesWithoutItems(t *testing.T) {
	const dataplane = `
type: Dataplane
mesh: default
name: web
networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}
---
`
	for _, kind := range kinds.All().All() {
		for _, spec := range []string{"{}", "{a: 1}", "{targetRef: {kind: Mesh}}", "{targetRef: {kind: Mesh}, default: {b: 1}}", "{rules: [{default: {b: 1}}]}", "{to: [{targetRef: {kind: Mesh}}]}"} {
			for _, stored := range []string{"", "creationTime: 2026-06-01T08:00:00Z\n"} {
				file := filepath.Join(t.TempDir(), "mesh.yaml")
				text := dataplane + "type: " + kind.Name + "\nmesh: default\nname: p\n" + stored + "spec: " + spec + "\n"
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				for _, command := range []string{"check", "inspect dataplane web --explain", "snapshot web", "inspect policy " + kind.Name + " p", "why " + kind.Name + " p web"} {
					var stdout, stderr strings.Builder
					code := (Program{}).run(t.Context(), append(strings.Fields(command), "-f", file, "--semantics", "kuma"), nil, &stdout, &stderr)
					if strings.Contains(stdout.String()+stderr.String(), "panic") || stored != "" && command == "check" && code != exitDone {
						t.Errorf("%s: exit status %d: %s%s", command, code, stderr.String(), text)
					}
				}
			}
		}
	}
}
