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
func checkWorld(t *testing.T, world *exportedWorld, flags ...string) *foundInWorld {
	t.Helper()
	file := filepath.Join(t.TempDir(), "world.yaml")
	if err := os.WriteFile(file, world.YAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	return checkFiles(t, file, flags...)
}

func checkFiles(t *testing.T, file string, flags ...string) *foundInWorld {
	t.Helper()
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
func forms(t *testing.T, f func(t *testing.T, world func(seed uint64) *exportedWorld)) {
	for _, kubernetes := range []bool{true, false} {
		for _, zone := range []string{"east", ""} {
			t.Run(fmt.Sprintf("kubernetes=%t zone=%s", kubernetes, zone), func(t *testing.T) {
				f(t, func(seed uint64) *exportedWorld { return newExported(kubernetes, zone, 10, seed) })
			})
		}
	}
}

// A sound mesh has no findings: what a control plane writes itself is none, and what this
// program's own proxies do not do is found with --serve only (SPEC 13.5).
func TestSoundWorldsHaveNoFindings(t *testing.T) {
	forms(t, func(t *testing.T, world func(seed uint64) *exportedWorld) {
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

// The world of a global control plane with two zones loads in each form in which operators have
// it, and has no findings.
func TestSoundGlobalWorld(t *testing.T) {
	lists := t.TempDir()
	for kind, list := range newGlobal(false).Lists() {
		if err := os.WriteFile(filepath.Join(lists, kind+".json"), list, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for form, answer := range map[string]*foundInWorld{
		"a list of Kubernetes": checkWorld(t, newGlobal(true)), "a universal export": checkWorld(t, newGlobal(false)), "lists of the REST API": checkFiles(t, lists),
	} {
		policies := 0
		for kind, n := range answer.Resources {
			switch kind {
			case "Mesh", "Zone", "ZoneIngress", "ZoneEgress", "Dataplane", "MeshService", "MeshExternalService", "MeshMultiZoneService", "MeshIdentity", "MeshTrust", "HostnameGenerator":
			default:
				policies += n
			}
		}
		if answer.Semantics != "kuma" || answer.Resources["Dataplane"] != exportedDataplanes || answer.Resources["MeshService"] != exportedServices || policies != exportedPolicies {
			t.Errorf("%s: semantics %s, %d policies, %v", form, answer.Semantics, policies, answer.Resources)
		}
		for _, w := range answer.Warnings {
			t.Errorf("%s: %s %s: %s", form, w.Code, w.Path, w.Message)
		}
	}
}

// A global control plane has copies with one display name in one namespace: they are found by it and
// the namespace where they were made, or the error has the names under which they are stored.
func TestNamesOfCopies(t *testing.T) {
	file := filepath.Join(t.TempDir(), "world.yaml")
	if err := os.WriteFile(file, newGlobal(true).YAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"pay/pay-15-6d4b75cb6d-10000":         "requestTimeout",
		"pay-15-6d4b75cb6d-10000":             "requestTimeout",
		"kuma-system/pay-15-6d4b75cb6d-10000": "requestTimeout",
		"shop/pay-15-6d4b75cb6d-10000":        `there is no dataplane "pay-15-6d4b75cb6d-10000" in namespace "shop"; it is in "kuma-system"`,
		"pay/pay-1-6d4b75cb6d-10000":          `several resources are dataplane "pay-1-6d4b75cb6d-10000"; give the name of one: kuma-system/pay-1-6d4b75cb6d-10000-`,
		"pay-1-6d4b75cb6d-10000":              "(zone east)",
	} {
		var stdout, stderr strings.Builder
		(Program{}).run(t.Context(), []string{"conf", name, "-f", file, "--kind", "mt", "--outbound", "shop-15:80"}, nil, &stdout, &stderr)
		if text := stdout.String() + stderr.String(); !strings.Contains(text, want) {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// A MeshTrust that is missing is one finding, not one for each entry of permissions.
func TestMissingMeshTrustIsOneFinding(t *testing.T) {
	const trusted = "default.west.mesh.local"
	for _, kubernetes := range []bool{true, false} {
		world := newExported(kubernetes, "east", 10, 1)
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

// A policy that changes one value of many outbounds is a few lines, and so is one for the
// dataplanes of one team in a world of the numbers of an export.
func TestDiffOfManyOutboundsIsShort(t *testing.T) {
	for name, world := range map[string]*exportedWorld{"zone": newExported(true, "east", 10, 1), "global": newGlobal(true)} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("COLUMNS", "120")
			diffIsShort(t, world)
		})
	}
}

func diffIsShort(t *testing.T, exportedWorld *exportedWorld) {
	dir := t.TempDir()
	world, edit := filepath.Join(dir, "world.yaml"), filepath.Join(dir, "edit.yaml")
	const policy = `
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: hurry, namespace: data, labels: {kuma.io/mesh: default}}
spec: {targetRef: {kind: Dataplane}, to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 3s}}]}
`
	if err := errors.Join(os.WriteFile(world, exportedWorld.YAML(), 0o600), os.WriteFile(edit, []byte(policy), 0o600)); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	if code := (Program{}).run(t.Context(), []string{"diff", "-f", world, "--apply", edit}, nil, &stdout, &stderr); code != exitNo {
		t.Fatalf("exit status %d: %s%s", code, stdout.String(), stderr.String())
	}
	lines := strings.Count(stdout.String(), "\n")
	if many := regexp.MustCompile(`MeshTimeout, \d{3,} outbounds of \d+ dataplanes\n`); lines > 10 || !many.MatchString(stdout.String()) {
		t.Errorf("%d lines:\n%s", lines, stdout.String())
	}
}
