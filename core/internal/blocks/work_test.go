package blocks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// counted is a Conf type that counts the items that its mergers are filled
// from.
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

// Items for every outbound that are always overridden are merged once. An outbound
// that a new version of a policy does not reach is not merged again.
func TestMergedItems(t *testing.T) {
	const overridden, outbounds = 100, 50
	fills := 0
	kind := *kinds.All().Lookup("MeshTimeout")
	kind.To = &resource.Section{Conf: counted{kind.To.Conf, &fills}, Targets: kind.To.Targets}
	loader := resource.Loader{Kinds: resource.NewKinds(&kind)}
	decode := func(text string) core.Batch {
		set, err := loader.Decode(resource.Input{Name: "test.yaml", Data: []byte(text)})
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
	e := core.NewEngine(loader.Kinds, core.Options{})
	if _, err := e.Apply(decode(world.String() + one(1))); err != nil {
		t.Fatal(err)
	}
	// all once, then one for each outbound, and again if that makes a new block
	if most := overridden + 2*outbounds; fills > most {
		t.Errorf("%d items were merged, want at most %d", fills, most)
	}
	fills = 0
	if _, err := e.Apply(decode(one(2))); err != nil {
		t.Fatal(err)
	}
	if most := overridden + 10; fills > most {
		t.Errorf("%d items were merged after a change of one outbound, want at most %d", fills, most)
	}
}
