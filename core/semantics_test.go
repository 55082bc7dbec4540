package core_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

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
		if got, _ := core.DetectSemantics(set); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
