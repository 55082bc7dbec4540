package snapshot_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// A destination that is added or removed before the others of the mesh does not change to which
// of them the items of a later edit apply (SPEC 17.3).
func TestFollowedDestinationsAreFoundAgain(t *testing.T) {
	b := serviceOf("b")
	edit := func(service, timeout string) string {
		return `{type: MeshTimeout, name: one, spec: {to: [{targetRef: {kind: MeshService, name: ` + service + `}, default: {connectionTimeout: ` + timeout + `}}]}}`
	}
	for _, c := range []struct {
		name    string
		batches []string
	}{
		{"added, then an edit", []string{serviceOf("a"), edit("b", "2s")}},
		{"added with the edit", []string{serviceOf("a") + "\n---\n" + edit("b", "2s")}},
		{"added, then an edit of the other", []string{edit("b", "2s"), serviceOf("a"), edit("a", "3s")}},
		{"added twice", []string{serviceOf("a"), edit("b", "2s"), serviceOf("aa"), edit("b", "3s")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
			builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
			apply := func(text string) {
				if _, err := engine.Apply(t.Context(), core.Batch{Upsert: decode(t, text)}); err != nil {
					t.Fatal(err)
				}
				want := answersOf(snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(engine.View()))
				if diff := cmp.Diff(want, answersOf(builder.At(engine.View()))); diff != "" {
					t.Errorf("after %s: -a new builder +this one:\n%s", text, diff)
				}
			}
			apply(`
{type: Dataplane, name: web, networking: {address: 10.0.0.1, outbound: [{port: 1, backendRef: {kind: MeshService, name: b, port: 80}}]}}
---
{type: Dataplane, name: b, networking: {address: 10.0.0.2, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: b}}]}}
---
{type: MeshTimeout, name: all, spec: {to: [{default: {idleTimeout: 9s}}]}}
---
` + b)
			for _, text := range c.batches {
				apply(text)
			}
		})
	}
}

// serviceOf returns a MeshService with an HTTP port.
func serviceOf(name string) string {
	return `{type: MeshService, name: ` + name + `, spec: {selector: {dataplaneTags: {kuma.io/service: ` + name + `}}, ports: [{port: 80, targetPort: 80, appProtocol: http}]}}`
}
