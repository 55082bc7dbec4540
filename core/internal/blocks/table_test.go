package blocks_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/blocks"
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

func newTable() *blocks.Table { return blocks.NewTable(semantics.TargetRef, items.NewMemo()) }

// fleet decodes policies and two dataplanes with the same outbounds, except that
// the second has one more. It returns both dataplanes and the MeshTimeout
// policies.
func fleet(t *testing.T, timeouts string) (first, second *resource.Dataplane, matched results.Matched) {
	t.Helper()
	dataplane := func(name, more string) string {
		return "type: Dataplane\nname: " + name + `
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}, {port: 81, tags: {kuma.io/service: web}}]
  outbound:
    - {port: 1, tags: {kuma.io/service: a}}
    - {port: 2, tags: {kuma.io/service: b}}
` + more + "---\n"
	}
	set := resourcetest.Decode(t, dataplane("web-1", "")+dataplane("web-2", "    - {port: 3, tags: {kuma.io/service: a}}\n")+timeouts)
	return set.Dataplanes[0], set.Dataplanes[1], matchedBy(set.Policies)
}

// matchedBy returns a list of policies that select the inbounds 0 and 1.
func matchedBy(policies []*resource.Policy) results.Matched {
	selected := make([]results.Selected, len(policies))
	for i, p := range policies {
		selected[i].Policy = p
		selected[i].Inbounds.Add(0)
		selected[i].Inbounds.Add(1)
	}
	return matched.NewMatched(selected)
}

const timeouts = `
type: MeshTimeout
name: t
spec:
  to: [{default: {idleTimeout: 1s}}, {targetRef: {kind: MeshService, name: a}, default: {connectionTimeout: 1s}}]
  rules: [{default: {idleTimeout: 2s}}, {matches: [{method: GET}], default: {idleTimeout: 3s}}]
`

// Equal results are one pointer.
func TestTableShares(t *testing.T) {
	d, e, matched := fleet(t, timeouts)
	kind := kinds.All().Lookup("MeshTimeout")
	table := newTable()
	one, two := table.ClassConfig(kind, d, matched), table.ClassConfig(kind, e, matched)
	for i := range 2 {
		a, b := one.Config().Inbounds[0].Rules, two.Config().Inbounds[i].Rules
		if len(a) != 2 || &a[0] != &b[0] {
			t.Errorf("the rules of inbound %d are made twice", i)
		}
	}
	first := table.OutboundEvaluator(one, nil, nil).Config(d, nil)
	second := table.OutboundEvaluator(two, nil, nil).Config(e, nil)
	for i, j := range []int{0, 1, 0} {
		if second.Outbounds[i].Effective != first.Outbounds[j].Effective {
			t.Errorf("the conf of outbound %d is made twice", i)
		}
	}
	if first.Outbounds[0].Effective == first.Outbounds[1].Effective {
		t.Error("different confs are one block")
	}
}

// If a new version of a policy has the same targetRefs, the outbounds that the
// policy does not select keep their blocks (SPEC 4.2).
func TestReplacedPolicy(t *testing.T) {
	const items = `{default: {idleTimeout: 1s}}, {targetRef: {kind: MeshService, name: b}, default: {connectionTimeout: 9s}}`
	version := func(seconds string) string {
		return "type: MeshTimeout\nname: base\nspec: {to: [" + items + "]}\n---\ntype: MeshTimeout\nname: one\nspec: {to: [{targetRef: {kind: MeshService, name: a}, default: {connectionTimeout: " + seconds + "}}]}\n"
	}
	d, _, before := fleet(t, version("1s"))
	next := resourcetest.Decode(t, version("2s")).Policies
	next[0] = before.At(0).Policy // base is the same version
	after := matchedBy(next)
	kind := kinds.All().Lookup("MeshTimeout")
	table := newTable()
	class := table.ClassConfig(kind, d, before)
	config := table.OutboundEvaluator(class, nil, nil).Config(d, nil)

	nextClass := table.ClassConfig(kind, d, after)
	nextConfig := table.OutboundEvaluator(nextClass, class, nil).Config(d, config)
	if got := text(t, nextConfig.Outbounds[0].Conf); got != `{"connectionTimeout":"2s","idleTimeout":"1s"}` {
		t.Errorf("outbound 0 has %s", got)
	}
	if nextConfig.Outbounds[1].Effective != config.Outbounds[1].Effective {
		t.Error("outbound 1 has another block")
	}
}

// Evaluate returns the result for a dataplane that need not exist. It shares blocks with others.
func TestEvaluate(t *testing.T) {
	d, _, matched := fleet(t, timeouts)
	table := newTable()
	config := table.Evaluate(kinds.All().Lookup("MeshTimeout"), d, matched, nil)
	for i, want := range []string{`{"connectionTimeout":"1s","idleTimeout":"1s"}`, `{"idleTimeout":"1s"}`} {
		if got := text(t, config.Outbounds[i].Conf); got != want {
			t.Errorf("outbound %d has %s, want %s", i, got, want)
		}
	}
	if again := table.Evaluate(config.Kind, d, matched, nil); again.Outbounds[0].Effective != config.Outbounds[0].Effective || again.Inbounds[0] != config.Inbounds[0] {
		t.Error("equal results are made twice")
	}
	trace := kinds.All().Lookup("MeshTrace")
	set := resourcetest.Decode(t, "type: MeshTrace\nname: t\nspec: {default: {sampling: {overall: 50}}}\n")
	config = table.Evaluate(trace, d, matchedBy(set.Policies), nil)
	if got := text(t, config.Default.Conf); config.Outbounds != nil || config.Inbounds != nil || got != `{"sampling":{"overall":50}}` {
		t.Errorf("got %s and %d outbounds", got, len(config.Outbounds))
	}
}
