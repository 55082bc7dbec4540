package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/app/internal/exported"
)

// foundInWorld is what the tests read of the answer of check.
type foundInWorld struct {
	Semantics string
	Resources map[string]int
	Warnings  []struct {
		Code, Path, Message string
		Count               int
		Examples            []struct{ Message string }
	}
}

// checkWorld runs check with what a control plane prints.
func checkWorld(t *testing.T, world *exported.World, flags ...string) *foundInWorld {
	t.Helper()
	file := filepath.Join(t.TempDir(), "world.yaml")
	if err := os.WriteFile(file, world.YAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	if code := (Program{}).run(t.Context(), append([]string{"check", "-f", file, "-o", "json"}, flags...), nil, &stdout, &stderr); code != exitDone {
		t.Fatalf("exit status %d: %s%s", code, stdout.String(), stderr.String())
	}
	answer := &foundInWorld{}
	if err := json.Unmarshal([]byte(stdout.String()), answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

// forms calls a function with the worlds of each form in which a control plane prints a mesh.
func forms(t *testing.T, f func(t *testing.T, world func(seed uint64) *exported.World)) {
	for _, kubernetes := range []bool{true, false} {
		for _, zone := range []string{"east", ""} {
			t.Run(fmt.Sprintf("kubernetes=%t zone=%s", kubernetes, zone), func(t *testing.T) {
				f(t, func(seed uint64) *exported.World { return exported.New(kubernetes, zone, 10, seed) })
			})
		}
	}
}

// A sound mesh has no findings: what a control plane writes itself is none, and what this
// program's own proxies do not do is found with --serve only (SPEC 13.5).
func TestSoundWorldsHaveNoFindings(t *testing.T) {
	forms(t, func(t *testing.T, world func(seed uint64) *exported.World) {
		for seed := range uint64(3) {
			answer := checkWorld(t, world(seed))
			if answer.Semantics != "kuma" || answer.Resources["Dataplane"] < 40 || answer.Resources["MeshService"] != 60 {
				t.Fatalf("this is no world of Kuma: %+v", answer)
			}
			for _, w := range answer.Warnings {
				t.Errorf("seed %d: %s %s: %s", seed, w.Code, w.Path, w.Message)
			}
		}
		if served := checkWorld(t, world(0), "--serve"); len(served.Warnings) == 0 {
			t.Error("--serve finds nothing")
		}
	})
}

// A MeshTrust that is missing is one finding, not one for each entry of permissions.
func TestMissingMeshTrustIsOneFinding(t *testing.T) {
	const trusted = "default.west.mesh.local"
	for _, kubernetes := range []bool{true, false} {
		world := exported.New(kubernetes, "east", 10, 1)
		if n := world.Remove("MeshTrust", trusted); n != 1 {
			t.Fatalf("%d MeshTrusts are removed", n)
		}
		answer := checkWorld(t, world)
		if len(answer.Warnings) != 1 {
			t.Fatalf("kubernetes=%t: %d findings: %+v", kubernetes, len(answer.Warnings), answer.Warnings)
		}
		w := answer.Warnings[0]
		if w.Code != "MM2026" || w.Count < 20 || len(w.Examples) != 3 || !strings.Contains(w.Message, "no MeshTrust has the trust domain "+trusted) {
			t.Errorf("kubernetes=%t: %+v", kubernetes, w)
		}
	}
}

// A policy that changes one value of many outbounds is a few lines.
func TestDiffOfManyOutboundsIsShort(t *testing.T) {
	dir := t.TempDir()
	world, edit := filepath.Join(dir, "world.yaml"), filepath.Join(dir, "edit.yaml")
	const policy = `
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: hurry, namespace: data, labels: {kuma.io/mesh: default}}
spec: {to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 3s}}]}
`
	if err := errors.Join(os.WriteFile(world, exported.New(true, "east", 10, 1).YAML(), 0o600), os.WriteFile(edit, []byte(policy), 0o600)); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	if code := (Program{}).run(t.Context(), []string{"diff", "-f", world, "--apply", edit}, nil, &stdout, &stderr); code != exitNo {
		t.Fatalf("exit status %d: %s%s", code, stdout.String(), stderr.String())
	}
	lines := strings.Count(stdout.String(), "\n")
	if many := regexp.MustCompile(`MeshTimeout, \d{3} outbounds of \d+ dataplanes\n`); lines > 10 || !many.MatchString(stdout.String()) {
		t.Errorf("%d lines:\n%s", lines, stdout.String())
	}
}
