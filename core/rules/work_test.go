package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
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

// Items for every outbound that are always overridden are looked at once, and
// an outbound that a new version of a policy does not reach not at all.
func TestItemsThatAreLookedAt(t *testing.T) {
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
		return core.Batch{Upsert: *set}
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
	// once all, then one for each outbound; where it makes a new block, again
	if most := overridden + 2*outbounds; fills > most {
		t.Errorf("%d items were looked at, %d are enough", fills, most)
	}
	fills = 0
	if _, err := e.Apply(decode(one(2))); err != nil {
		t.Fatal(err)
	}
	if most := overridden + 10; fills > most {
		t.Errorf("%d items were looked at after a change of one outbound, %d are enough", fills, most)
	}
}

// What is overridden for everybody tells nobody apart (SPEC 5.4).
func TestRulesOfWhatIsOverridden(t *testing.T) {
	from := config(t, "MeshTimeout", `
type: MeshTimeout
name: a
spec:
  from:
    - default: {idleTimeout: 1s}
    - {targetRef: {kind: MeshSubset, tags: {zone: east}}, default: {idleTimeout: 2s}}
    - {targetRef: {kind: MeshSubset, tags: {zone: west}}, default: {connectionTimeout: 2s}}
    - default: {idleTimeout: 3s}
`).Inbounds[0].From
	for name, view := range map[string]func(partition.Limits) ([]rules.SelectorRule, error){"disjoint": from.Disjoint, "ordered": from.Ordered} {
		list, err := view(partition.Limits{})
		if err != nil || len(list) != 2 {
			t.Errorf("%s: %d rules for the west and the rest, error %v", name, len(list), err)
		}
	}
}
