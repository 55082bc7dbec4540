package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// TestNoSemantics refuses options without a semantics, and names all of them (SPEC 17.1).
func TestNoSemantics(t *testing.T) {
	engine := core.NewEngine(kinds.All(), core.Options{})
	_, err := engine.Apply(context.Background(), core.Batch{})
	if !errors.Is(err, core.ErrNoSemantics) {
		t.Fatalf("got %v, want %v", err, core.ErrNoSemantics)
	}
	for _, name := range []string{"TargetRef", "Kuma", "Kuma3", "Detect"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("the error %q does not name %s", err, name)
		}
	}
}

// TestOtherSemantics warns of resources of a control plane that an engine reads by targetref.
func TestOtherSemantics(t *testing.T) {
	const plain = "{type: MeshTimeout, name: a, spec: {to: [{default: {connectionTimeout: 1s}}]}}"
	const labelled = "{type: MeshTimeout, name: a, labels: {kuma.io/origin: zone}, spec: {to: [{default: {connectionTimeout: 1s}}]}}"
	for _, c := range []struct {
		name, text string
		by         core.Semantics
		warns      bool
	}{
		{"a policy without labels", plain, core.TargetRef, false},
		{"a policy of a control plane", labelled, core.TargetRef, true},
		{"the semantics of that control plane", labelled, core.Kuma, false},
		{"a later version", labelled, core.Kuma3, false},
		{"a policy without labels for Kuma", plain, core.Kuma, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			set := resourcetest.Decode(t, c.text)
			commit, err := core.NewEngine(kinds.All(), core.Options{Semantics: c.by}).Apply(context.Background(), core.Batch{Upsert: set})
			if err != nil {
				t.Fatal(err)
			}
			if got := len(commit.Warnings) > 0; got != c.warns {
				t.Fatalf("the warnings are %v", commit.Warnings)
			}
			if c.warns && (commit.Warnings[0].Code != diag.OtherSemantics || core.Detect(set) != core.Kuma) {
				t.Errorf("the warning is %v, and Detect finds %s", commit.Warnings[0], core.Detect(set))
			}
		})
	}
}

// An embedder names a semantics, or takes that of the resources.
func TestSemanticsOfEmbedder(t *testing.T) {
	for _, want := range []core.Semantics{core.TargetRef, core.Kuma, core.Kuma3} {
		if got, err := core.ParseSemantics(want.String()); err != nil || got != want {
			t.Errorf("%s: got %v, %v", want, got, err)
		}
	}
	if _, err := core.ParseSemantics("istio"); err == nil {
		t.Error("istio is accepted")
	}
	for text, want := range map[string]core.Semantics{
		"{type: MeshTimeout, mesh: m, name: a, spec: {to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]}}": core.TargetRef,
		"{type: MeshService, mesh: m, name: a, spec: {ports: [{port: 80}]}}":                                         core.Kuma,
	} {
		loader := resource.Loader{Kinds: kinds.All()}
		set, err := loader.Decode(t.Context(), resource.Input{Name: "f", Data: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		if got := core.Detect(set); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
