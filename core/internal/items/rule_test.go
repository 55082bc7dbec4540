package items_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

const policies = `
{type: MeshHTTPRoute, name: route, spec: {to: [{targetRef: {kind: MeshService, name: web}, rules: []}]}}
---
{type: MeshHTTPRoute, name: other, spec: {to: [{targetRef: {kind: MeshService, name: web}, rules: []}]}}
---
{type: MeshTimeout, name: to, spec: {to: [
  {targetRef: {kind: Mesh}, default: {idleTimeout: 1s}},
  {targetRef: {kind: MeshService, name: web}, default: {idleTimeout: 1s}},
  {targetRef: {kind: MeshService, name: web, sectionName: http}, default: {idleTimeout: 1s}},
  {targetRef: {kind: MeshHTTPRoute, name: route}, default: {http: {requestTimeout: 1s}}}]}}
---
{type: MeshTimeout, name: attached, spec: {targetRef: {kind: MeshHTTPRoute, name: route}, to: [
  {targetRef: {kind: Mesh}, default: {http: {requestTimeout: 1s}}}]}}
`

func policy(t *testing.T, set *resource.Set, name string) *resource.Policy {
	t.Helper()
	at := slices.IndexFunc(set.Policies, func(p *resource.Policy) bool { return p.Name == name })
	if at < 0 {
		t.Fatalf("there is no policy %s", name)
	}
	return set.Policies[at]
}

func TestApplies(t *testing.T) {
	set := resourcetest.Decode(t, policies)
	route, other := policy(t, set, "route"), policy(t, set, "other")
	for name, c := range map[string]struct {
		policy, service string
		route           *resource.Policy
		want            []int
	}{
		"an outbound (SPEC 4.2)":                    {"to", "web", nil, []int{0, 1}},
		"an outbound to another service (SPEC 4.2)": {"to", "db", nil, []int{0}},
		"a route (SPEC 4.3)":                        {"to", "web", route, []int{0, 1, 3}},
		"a route that no item names (SPEC 4.3)":     {"to", "web", other, []int{0, 1}},
		"attached: a whole outbound (SPEC 4.3)":     {"attached", "web", nil, nil},
		"attached: its route (SPEC 4.3)":            {"attached", "web", route, []int{0}},
		"attached: another route (SPEC 4.3)":        {"attached", "web", other, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy(t, set, c.policy)
			tags := resource.NewTags(map[string]string{resource.ServiceTag: c.service})
			var got []int
			for i := range p.To {
				if items.Applies(semantics.TargetRef, p, &p.To[i].TargetRef, tags, c.route) {
					got = append(got, i)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("items %v apply, want %v", got, c.want)
			}
		})
	}
}

// A listener of a gateway gets the items of kind Mesh, and of routes those for its host
// names (SPEC 17.3).
func TestListenerTo(t *testing.T) {
	set := resourcetest.Decode(t, policies+`
---
{type: MeshHTTPRoute, name: hosted, spec: {targetRef: {kind: MeshGateway, name: edge}, to: [{targetRef: {kind: Mesh}, hostnames: [a.example, "*.b.example"], rules: []}, {targetRef: {kind: Mesh}, rules: []}]}}
`)
	matched := func(names ...string) results.Matched {
		var list []results.Selected
		for _, name := range names {
			s := results.Selected{Policy: policy(t, set, name)}
			s.Inbounds.Add(0)
			list = append(list, s)
		}
		return matched.NewMatched(list)
	}
	timeouts := matched("to", "attached")
	c := items.NewMemo().ListenerTo(semantics.TargetRef, policy(t, set, "to").Type, timeouts, 0, "")
	if c.To == nil || len(c.To.Origins) != 1 || c.To.Origins[0].Policy.Name != "to" || c.To.Origins[0].Index != 0 {
		t.Errorf("a listener has %v, want the item of kind Mesh", c.To)
	}
	if c := items.NewMemo().ListenerTo(semantics.TargetRef, policy(t, set, "to").Type, timeouts, 1, ""); c.To != nil {
		t.Error("a listener that no policy selects has a conf")
	}
	for hostname, want := range map[string]string{
		"":            "[* *.b.example a.example]",
		"a.example":   "[* a.example]",
		"x.b.example": "[* *.b.example]",
		"c.example":   "[*]",
	} {
		var hosts []string
		for _, h := range items.NewMemo().ListenerTo(semantics.TargetRef, policy(t, set, "hosted").Type, matched("hosted"), 0, hostname).Hosts {
			hosts = append(hosts, h.Hostname)
		}
		if fmt.Sprint(hosts) != want {
			t.Errorf("%q has routes of %v, want %s", hostname, hosts, want)
		}
	}
}
