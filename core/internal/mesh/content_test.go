package mesh

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/resource"
)

const everything = `
type: Dataplane
name: d
labels: {a: x}
networking:
  address: 10.0.0.1
  inbound: [{name: http, port: 80, address: 10.0.0.2, servicePort: 81, protocol: http, tags: {kuma.io/service: web}}]
  outbound: [{port: 1, address: 127.0.0.1, tags: {kuma.io/service: api}}]
---
type: MeshTimeout
name: to
labels: {a: x}
spec:
  targetRef: {kind: Dataplane, labels: {a: x}, sectionName: http}
  to: [{targetRef: {kind: MeshServiceSubset, name: api, tags: {v: "1"}}, default: {connectionTimeout: 1s}}]
---
type: MeshTimeout
name: rules
spec:
  targetRef: {kind: MeshSubset, tags: {v: "1"}, proxyTypes: [Sidecar]}
  rules: [{matches: [{method: GET}], default: {idleTimeout: 1s}}]
---
type: MeshTimeout
name: from
spec:
  targetRef: {kind: Dataplane, name: d}
  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1s}}]
---
type: MeshTrace
name: trace
spec: {default: {backends: []}}
`

// A resource that is decoded twice is the same; one that differs in anything is not.
func TestEqual(t *testing.T) {
	set := resourcetest.Decode(t, everything)
	again := resourcetest.Decode(t, everything)
	for i, p := range set.Policies {
		if !equalPolicy(p, again.Policies[i]) {
			t.Errorf("%s is not the same as itself", p.Name)
		}
	}
	if !equalDataplane(set.Dataplanes[0], again.Dataplanes[0]) {
		t.Error("a dataplane is not the same as itself")
	}
	for name, change := range map[string]func(*resource.Dataplane){
		"label":        func(d *resource.Dataplane) { d.Labels[0].Value = "y" },
		"address":      func(d *resource.Dataplane) { d.Address = "10.0.0.9" },
		"gateway":      func(d *resource.Dataplane) { d.Gateway = &resource.GatewayProxy{} },
		"no inbound":   func(d *resource.Dataplane) { d.Inbounds = nil },
		"name":         func(d *resource.Dataplane) { d.Inbounds[0].Name = "x" },
		"port":         func(d *resource.Dataplane) { d.Inbounds[0].Port = 1 },
		"in address":   func(d *resource.Dataplane) { d.Inbounds[0].Address = "" },
		"service port": func(d *resource.Dataplane) { d.Inbounds[0].ServicePort = 1 },
		"protocol":     func(d *resource.Dataplane) { d.Inbounds[0].Protocol = "" },
		"in tag":       func(d *resource.Dataplane) { d.Inbounds[0].Tags[0].Value = "x" },
		"out port":     func(d *resource.Dataplane) { d.Outbounds[0].Port = 2 },
		"out address":  func(d *resource.Dataplane) { d.Outbounds[0].Address = "" },
		"out tag":      func(d *resource.Dataplane) { d.Outbounds[0].Tags[0].Key = "x" },
	} {
		other := resourcetest.Decode(t, everything).Dataplanes[0]
		change(other)
		if equalDataplane(set.Dataplanes[0], other) {
			t.Errorf("dataplane: another %s is not noticed", name)
		}
	}
	gateways := []*resource.GatewayProxy{nil, {}, {Builtin: true}, {Tags: resource.Tags{{Key: "a", Value: "b"}}}}
	for i, a := range gateways {
		for j, b := range gateways {
			if equalGateway(a, b) != (i == j) {
				t.Errorf("gateways %d and %d", i, j)
			}
		}
	}
}

func TestEqualPolicy(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		change func(*resource.Policy)
	}{
		"label":       {"to", func(p *resource.Policy) { p.Labels[0].Key = "b" }},
		"target":      {"to", func(p *resource.Policy) { p.TargetRef.Kind = resource.TargetMesh }},
		"labels":      {"to", func(p *resource.Policy) { p.TargetRef.Labels[0].Value = "y" }},
		"sectionName": {"to", func(p *resource.Policy) { p.TargetRef.SectionName = "" }},
		"name":        {"from", func(p *resource.Policy) { p.TargetRef.Name = "e" }},
		"namespace":   {"from", func(p *resource.Policy) { p.TargetRef.Namespace = "ns" }},
		"tags":        {"rules", func(p *resource.Policy) { p.TargetRef.Tags[0].Value = "2" }},
		"proxyTypes":  {"rules", func(p *resource.Policy) { p.TargetRef.ProxyTypes = 0 }},
		"no to":       {"to", func(p *resource.Policy) { p.To = nil }},
		"empty from":  {"to", func(p *resource.Policy) { p.From = []resource.Item{} }},
		"to target":   {"to", func(p *resource.Policy) { p.To[0].TargetRef.Tags[0].Value = "2" }},
		"to conf":     {"to", func(p *resource.Policy) { p.To[0].Conf = resourcetest.Decode(t, everything).Policies[1].Rules[0].Conf }},
		"from target": {"from", func(p *resource.Policy) { p.From[0].TargetRef.Kind = resource.TargetMeshSubset }},
		"empty rules": {"from", func(p *resource.Policy) { p.Rules = []resource.Rule{} }},
		"match":       {"rules", func(p *resource.Policy) { *p.Rules[0].Matches[0].Method = "PUT" }},
		"rule's conf": {"rules", func(p *resource.Policy) { p.Rules[0].Conf = resourcetest.Decode(t, everything).Policies[2].To[0].Conf }},
		"default":     {"trace", func(p *resource.Policy) { p.Default = p.Type.Default.Conf.NewMerger().Conf() }},
	} {
		a, b := policyOfEverything(t, c.policy), policyOfEverything(t, c.policy)
		c.change(b)
		if equalPolicy(a, b) {
			t.Errorf("another %s is not noticed", name)
		}
	}
}

// A resource at another position has the same content, and does not repeat the
// known one.
func TestRepeats(t *testing.T) {
	for name, c := range map[string]struct {
		policy string
		move   func(*resource.Policy)
	}{
		"document": {"to", func(p *resource.Policy) { p.Pos.Line++ }},
		"target":   {"to", func(p *resource.Policy) { p.TargetPos.Line++ }},
		"default":  {"trace", func(p *resource.Policy) { p.DefaultPos.Line++ }},
		"to":       {"to", func(p *resource.Policy) { p.To[0].Pos.Line++ }},
		"from":     {"from", func(p *resource.Policy) { p.From[0].Pos.Line++ }},
		"rule":     {"rules", func(p *resource.Policy) { p.Rules[0].Pos.Line++ }},
		// Confs that are merged equal may come from documents that differ (SPEC 17.5).
		"schema": {"to", func(p *resource.Policy) { p.SchemaDefaults = []resource.SchemaDefault{{Pointer: "/a"}} }},
		"unread": {"to", func(p *resource.Policy) { p.Unread = []resource.UnreadField{{Array: "to", Pointer: "/a"}} }},
	} {
		a, b := policyOfEverything(t, c.policy), policyOfEverything(t, c.policy)
		if !repeatsPolicy(a, b) {
			t.Errorf("%s does not repeat itself", c.policy)
		}
		if c.move(b); !equalPolicy(a, b) || repeatsPolicy(a, b) {
			t.Errorf("%s: the same %v, repeats %v", name, equalPolicy(a, b), repeatsPolicy(a, b))
		}
	}
	a, b := resourcetest.Decode(t, everything).Dataplanes[0], resourcetest.Decode(t, everything).Dataplanes[0]
	if !repeatsDataplane(a, b) {
		t.Error("a dataplane does not repeat itself")
	}
	if b.Pos.Line++; !equalDataplane(a, b) || repeatsDataplane(a, b) {
		t.Error("a dataplane that moved")
	}
	m, n := resource.Mesh{Meta: a.Meta}, resource.Mesh{Meta: a.Meta}
	if !repeatsMesh(&m, &n) {
		t.Error("a mesh does not repeat itself")
	}
	if n.Pos.Line++; repeatsMesh(&m, &n) {
		t.Error("a mesh that moved")
	}
}

func policyOfEverything(t *testing.T, name string) *resource.Policy {
	t.Helper()
	for _, p := range resourcetest.Decode(t, everything).Policies {
		if p.Name == name {
			return p
		}
	}
	t.Fatalf("no policy %s", name)
	return nil
}
