package blocks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// counted is a Conf type that counts the items with which its mergers are
// filled.
type counted struct {
	resource.ConfType
	fills *int
}

func (c counted) NewMerger() resource.Merger {
	return countedMerger{c.ConfType.NewMerger(), c.fills}
}

type countedMerger struct {
	resource.Merger
	fills *int
}

func (m countedMerger) Fill(lower resource.Conf, item int) bool {
	*m.fills++
	return m.Merger.Fill(lower, item)
}

// Items for every outbound that are always overridden are merged once, and not again if a
// policy has a new version, even if it sets other leaves. An outbound that a new version of
// a policy does not reach is not merged again.
func TestMergedItems(t *testing.T) {
	const overridden, outbounds = 1_000, 50
	fills := 0
	kind := *kinds.All().Lookup("MeshTimeout")
	kind.To = &resource.Section{Conf: counted{kind.To.Conf, &fills}, Targets: kind.To.Targets}
	loader := resource.Loader{Kinds: resource.NewKinds(&kind)}
	decode := func(text string) core.Batch {
		set, err := loader.Decode(t.Context(), resource.Input{Name: "test.yaml", Data: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		return core.Batch{Upsert: set}
	}
	var world strings.Builder
	world.WriteString("type: Dataplane\nname: web-1\nnetworking:\n  address: 10.0.0.1\n  outbound:\n")
	for i := range outbounds {
		fmt.Fprintf(&world, "    - {port: %d, tags: {kuma.io/service: s-%d}}\n", i+1, i)
	}
	world.WriteString("---\ntype: MeshTimeout\nname: a\nspec:\n  to:\n")
	for range overridden {
		world.WriteString("    - default: {connectionTimeout: 1s}\n")
	}
	one := func(seconds int) string {
		return fmt.Sprintf("---\ntype: MeshTimeout\nname: one\nspec: {to: [{targetRef: {kind: MeshService, name: s-7}, default: {idleTimeout: %ds}}]}\n", seconds)
	}
	e := core.NewEngine(loader.Kinds, core.Options{Semantics: core.TargetRef})
	if _, err := e.Apply(t.Context(), decode(world.String()+one(1))); err != nil {
		t.Fatal(err)
	}
	// all items once, then one for each outbound, and once more if that makes a new block
	if most := overridden + 2*outbounds; fills > most {
		t.Errorf("%d items were merged, want at most %d", fills, most)
	}
	fills = 0
	if _, err := e.Apply(t.Context(), decode(one(2))); err != nil {
		t.Fatal(err)
	}
	if most := 10; fills > most {
		t.Errorf("%d items were merged after a change of one outbound, want at most %d", fills, most)
	}
	last := func(conf string) string {
		return "---\ntype: MeshTimeout\nname: z\nspec: {to: [{default: {" + conf + "}}]}\n"
	}
	if _, err := e.Apply(t.Context(), decode(last("connectionTimeout: 1s"))); err != nil {
		t.Fatal(err)
	}
	for _, conf := range []string{"connectionTimeout: 2s", "idleTimeout: 1s", "idleTimeout: 2s, connectionTimeout: 3s"} {
		fills = 0
		if _, err := e.Apply(t.Context(), decode(last(conf))); err != nil {
			t.Fatal(err)
		}
		if most := 20 + 4*outbounds; fills == 0 || fills > most {
			t.Errorf("%d items were merged after the last policy for all outbounds became %s, want at most %d", fills, conf, most)
		}
	}
}

// If a dataplane enters a placement that enforces a policy, the shadow result
// with that policy exists already: nothing is merged.
func TestPlacementsMergeNothing(t *testing.T) {
	fills := 0
	kind := *kinds.All().Lookup("MeshTimeout")
	kind.To = &resource.Section{Conf: counted{kind.To.Conf, &fills}, Targets: kind.To.Targets}
	loader := resource.Loader{Kinds: resource.NewKinds(&kind), Documents: ocm.Documents()}
	e := core.NewEngine(loader.Kinds, core.Options{Semantics: core.TargetRef})
	apply := func(text string) core.Commit {
		t.Helper()
		set, err := loader.Decode(t.Context(), resource.Input{Name: "test.yaml", Data: []byte(text)})
		if err != nil {
			t.Fatal(err)
		}
		commit, err := e.Apply(t.Context(), core.Batch{Upsert: set})
		if err != nil {
			t.Fatal(err)
		}
		return commit
	}
	placement := func(zones string) string {
		return fmt.Sprintf("---\n{apiVersion: apps.open-cluster-management.io/v1, kind: PlacementRule, metadata: {name: r, namespace: n}, spec: {clusters: [%s]}}\n", zones)
	}
	apply(`
{type: Dataplane, name: web-1, networking: {address: 10.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/zone: east}}], outbound: [{port: 1, tags: {kuma.io/service: a}}]}}
---
{type: Dataplane, name: web-2, networking: {address: 10.0.0.2, inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/zone: west}}], outbound: [{port: 1, tags: {kuma.io/service: a}}]}}
---
{type: MeshTimeout, name: base, spec: {to: [{default: {idleTimeout: 1s}}]}}
---
{type: MeshTimeout, name: canary, labels: {kuma.io/effect: shadow, k8s.kuma.io/namespace: n}, spec: {to: [{default: {connectionTimeout: 1s}}]}}
---
apiVersion: policy.open-cluster-management.io/v1
kind: PlacementBinding
metadata: {name: b, namespace: n}
bindingOverrides: {remediationAction: enforce}
placementRef: {apiGroup: apps.open-cluster-management.io, kind: PlacementRule, name: r}
subjects: [{apiGroup: kuma.io, kind: MeshTimeout, name: canary}]
` + placement("{name: none}"))
	fills = 0
	for zones, want := range map[string]int{"{name: east}": 1, "{name: east}, {name: west}": 2} {
		apply(placement("{name: none}"))
		fills = 0
		if commit := apply(placement(zones)); len(commit.Changes()) != 1 || commit.Changes()[0].Len() != want {
			t.Errorf("%s: %d changes, want one of %d dataplanes", zones, len(commit.Changes()), want)
		}
		if fills > 0 {
			t.Errorf("%s: %d items were merged", zones, fills)
		}
	}
}
