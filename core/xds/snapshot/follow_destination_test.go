package snapshot_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
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
			apply := compared(t)
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

// compared returns a function that applies a change, and compares a builder that has followed
// the changes with a new one.
func compared(t *testing.T) (apply func(text string, remove ...resource.ID)) {
	f := follow(t, semantics.TargetRef)
	return func(text string, remove ...resource.ID) {
		t.Helper()
		state := f.apply(text, remove...)
		want := answersOf(snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(state.View()))
		if diff := cmp.Diff(want, answersOf(state)); diff != "" {
			t.Errorf("after %s, without %v: -a new builder +this one:\n%s", text, remove, diff)
		}
	}
}

// An item that sets no field of the merged conf, and hides a union of a lower item, changes the
// conf and none of its origins (SPEC 6). A snapshot follows its removal.
func TestFollowedUnions(t *testing.T) {
	apply := compared(t)
	apply(`
{type: Dataplane, name: web, networking: {address: 10.0.0.1, outbound: [{port: 1, backendRef: {kind: MeshService, name: b, port: 80}}]}}
---
{type: MeshLoadBalancingStrategy, name: a, spec: {to: [{targetRef: {kind: MeshService, name: b}, default: {
  localityAwareness: {disabled: true}, loadBalancer: {type: RingHash, ringHash: {minRingSize: 5}}}}]}}
---
{type: MeshLoadBalancingStrategy, name: b, spec: {to: [{targetRef: {kind: MeshService, name: b}, default: {loadBalancer: {type: RoundRobin}}}]}}
---
{type: MeshLoadBalancingStrategy, name: c, spec: {to: [{targetRef: {kind: MeshService, name: b}, default: {loadBalancer: {type: RingHash, ringHash: {maxRingSize: 9}}}}]}}
---
` + serviceOf("b"))
	apply("", resource.ID{Kind: "MeshLoadBalancingStrategy", Mesh: "default", Name: "b"})
}

// serviceOf returns a MeshService with an HTTP port.
func serviceOf(name string) string {
	return `{type: MeshService, name: ` + name + `, spec: {selector: {dataplaneTags: {kuma.io/service: ` + name + `}}, ports: [{port: 80, targetPort: 80, appProtocol: http}]}}`
}
