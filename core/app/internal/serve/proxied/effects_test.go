package proxied_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/effect"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// edits are edits that change one value of a field of testdata/fields cannot make. Each is
// of one field.
var edits = []struct{ kind, field, before, after string }{
	{
		"MeshFaultInjection", "/http/2/abort/httpStatus",
		`{type: MeshFaultInjection, mesh: default, name: e, spec: {rules: [{default: {http: [{abort: {httpStatus: 500, percentage: 1}}, {abort: {httpStatus: 501, percentage: 1}}]}}]}}`,
		`{type: MeshFaultInjection, mesh: default, name: e, spec: {rules: [{default: {http: [{abort: {httpStatus: 500, percentage: 1}}, {abort: {httpStatus: 501, percentage: 1}}, {abort: {httpStatus: 502, percentage: 1}}]}}]}}`,
	}, {
		"MeshLoadBalancingStrategy", "/loadBalancer/type",
		`{type: MeshLoadBalancingStrategy, mesh: default, name: e, spec: {to: [{targetRef: {kind: Mesh}, default: {hashPolicies: [{type: SourceIP}], loadBalancer: {type: RoundRobin}}}]}}`,
		`{type: MeshLoadBalancingStrategy, mesh: default, name: e, spec: {to: [{targetRef: {kind: Mesh}, default: {hashPolicies: [{type: SourceIP}], loadBalancer: {type: RingHash}}}]}}`,
	}, {
		"MeshLoadBalancingStrategy", "/hashPolicies/0/type",
		`{type: MeshLoadBalancingStrategy, mesh: default, name: e, spec: {to: [{targetRef: {kind: Mesh}, default: {loadBalancer: {type: Maglev}}}]}}`,
		`{type: MeshLoadBalancingStrategy, mesh: default, name: e, spec: {to: [{targetRef: {kind: Mesh}, default: {hashPolicies: [{type: SourceIP}], loadBalancer: {type: Maglev}}}]}}`,
	}, {
		"MeshLoadBalancingStrategy", "/loadBalancer/maglev/hashPolicies/0/type",
		`{type: MeshLoadBalancingStrategy, mesh: default, name: e, spec: {to: [{targetRef: {kind: Mesh}, default: {loadBalancer: {type: Maglev}}}]}}`,
		`{type: MeshLoadBalancingStrategy, mesh: default, name: e, spec: {to: [{targetRef: {kind: Mesh}, default: {loadBalancer: {type: Maglev, maglev: {hashPolicies: [{type: SourceIP}]}}}}]}}`,
	}, {
		"MeshLoadBalancingStrategy", "/loadBalancer/ringHash/hashPolicies/0/type",
		`{type: MeshLoadBalancingStrategy, mesh: default, name: e, spec: {to: [{targetRef: {kind: Mesh}, default: {loadBalancer: {type: RingHash, ringHash: {minRingSize: 9}}}}]}}`,
		`{type: MeshLoadBalancingStrategy, mesh: default, name: e, spec: {to: [{targetRef: {kind: Mesh}, default: {loadBalancer: {type: RingHash, ringHash: {minRingSize: 9, hashPolicies: [{type: SourceIP}]}}}}]}}`,
	}, {
		"MeshTCPRoute", "/rules/0/default/backendRefs/0/tags/version",
		`{type: MeshTCPRoute, mesh: default, name: e, spec: {to: [{targetRef: {kind: MeshService, name: backend}, rules: [{default: {backendRefs: [{kind: MeshServiceSubset, name: backend, tags: {version: v2}}]}}]}]}}`,
		`{type: MeshTCPRoute, mesh: default, name: e, spec: {to: [{targetRef: {kind: MeshService, name: backend}, rules: [{default: {backendRefs: [{kind: MeshServiceSubset, name: backend, tags: {version: v3}}]}}]}]}}`,
	}, {
		"MeshTrafficPermission", "/allow",
		`{type: Dataplane, mesh: open, name: web, networking: {address: 10.0.0.9, inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}], transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}}}`,
		`{type: Dataplane, mesh: open, name: web, networking: {address: 10.0.0.9, inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}], transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}}}` +
			"\n---\n" + `{type: MeshTrafficPermission, mesh: open, name: e, spec: {rules: [{default: {allow: [{path: {type: Prefix, value: /}}]}}]}}`,
	},
}

// effects are the resources that edits of fields changed, by field.
type effects map[string]*[effect.NumParts]effect.Resources

// add adds the differences between two worlds that differ in one field.
func (e effects) add(field string, before, after outcome) {
	if e[field] == nil {
		e[field] = &[effect.NumParts]effect.Resources{}
	}
	for d, old := range before.resources {
		next := after.resources[d]
		for _, pair := range [][2]dataplaneResources{{old, next}, {next, old}} {
			for key, version := range pair[0].versions {
				if pair[1].versions[key] == version {
					continue
				}
				if part, ok := old.partOf(key); ok {
					e[field][part] |= types[key.of]
				} else if part, ok := next.partOf(key); ok {
					e[field][part] |= types[key.of]
				}
			}
		}
	}
}

var types = map[wire.Type]effect.Resources{
	wire.ListenerType: effect.Listener, wire.RouteType: effect.Routes, wire.ClusterType: effect.Cluster,
	wire.EndpointType: effect.Endpoints, wire.ExtensionType: effect.Extension,
}

// check compares the effects with the rows of a kind: each effect is in its row, and each
// resource of a row has been an effect. A policy as a whole has the effects of its rows.
func (e effects) check(t *testing.T, kind string) {
	if kind == "MeshHTTPRoute" { // a backend of a route may be a TCP service
		for _, parts := range e {
			parts[effect.HTTPOutbound] |= parts[effect.TCPOutbound]
			parts[effect.TCPOutbound] = 0
		}
	}
	var all [effect.NumParts]effect.Resources
	seen := map[string]*[effect.NumParts]effect.Resources{}
	for _, row := range effect.Table() {
		if row.Kind != kind {
			continue
		}
		seen[row.Field] = &[effect.NumParts]effect.Resources{}
		for part, changes := range row.Changes {
			all[part] |= changes
		}
		for field, parts := range e {
			for part, got := range parts {
				if field != "" && row.Covers(field) {
					seen[row.Field][part] |= got
				}
			}
		}
		for part, changes := range row.Changes {
			// A patch can name any listener; those of testdata name some.
			if missing := changes &^ seen[row.Field][part]; missing != 0 && kind != "MeshProxyPatch" {
				t.Errorf("no edit of %s %q changes the %s of a %s: remove it from the table, or add an edit to this test", kind, row.Field, missing, effect.Area(part))
			}
		}
	}
	for field, parts := range e {
		for part, got := range parts {
			want, known := effect.ChangedBy(kind, field, effect.Area(part))
			if field == "" {
				want = all[part]
			}
			if !known || got&^want != 0 {
				t.Errorf("%s %q changes the %s of a %s, which the table does not have", kind, field, got&^want, effect.Area(part))
			}
		}
	}
}

type resourceKey struct {
	of   wire.Type
	name string
}

// dataplaneResources are the resources of a dataplane.
type dataplaneResources struct {
	versions map[resourceKey]string
	parts    map[string]effect.Area // of the names of listeners and clusters
}

func resourcesOf(s *snapshot.Snapshot) dataplaneResources {
	d := dataplaneResources{map[resourceKey]string{}, map[string]effect.Area{}}
	for of := range types {
		for _, r := range s.Resources(of) {
			d.versions[resourceKey{of, r.Name}] = r.Version
		}
	}
	for _, r := range s.Resources(wire.ListenerType) {
		http := bytes.Contains(r.Body, []byte("http_connection_manager"))
		switch {
		case strings.HasPrefix(r.Name, "inbound/") && http:
			d.parts[r.Name] = effect.HTTPInbound
		case strings.HasPrefix(r.Name, "inbound/"):
			d.parts[r.Name] = effect.TCPInbound
		case strings.HasPrefix(r.Name, "outbound/") && http:
			d.parts[r.Name] = effect.HTTPOutbound
		case strings.HasPrefix(r.Name, "outbound/"):
			d.parts[r.Name] = effect.TCPOutbound
		default:
			d.parts[r.Name] = effect.Proxy
		}
	}
	for _, r := range s.Resources(wire.ClusterType) {
		if strings.HasPrefix(r.Name, "default/") {
			d.parts[r.Name] = effect.TCPOutbound
			if bytes.Contains(r.Body, []byte("HttpProtocolOptions")) {
				d.parts[r.Name] = effect.HTTPOutbound
			}
		}
	}
	return d
}

// partOf returns the part of a resource; ok is false for a cluster of a collector.
func (d dataplaneResources) partOf(key resourceKey) (part effect.Area, ok bool) {
	name := strings.TrimSuffix(strings.TrimPrefix(key.name, "permission/"), "/plain")
	if of, local := strings.CutPrefix(name, "local/"); local {
		name = "inbound/" + of
	}
	part, ok = d.parts[name]
	return part, ok
}

// edit adds the edits of the kind.
func (w *fieldWorld) edit(t *testing.T, e effects) {
	for _, edit := range edits {
		if edit.kind != w.kind.Name {
			continue
		}
		var outcomes [2]outcome
		for i, text := range []string{edit.before, edit.after} {
			world := fieldWorld{world: fmt.Appendf(nil, "%s\n---\n%s", w.world, text), kind: w.kind}
			var err error
			if outcomes[i], err = world.build(nil); err != nil {
				t.Fatal(err)
			}
		}
		e.add(edit.field, outcomes[0], outcomes[1])
	}
}

// Each kind has a row.
func TestTableHasAllKinds(t *testing.T) {
	for _, kind := range kinds.All().All() {
		if _, known := effect.ChangedBy(kind.Name, "", effect.Proxy); !known {
			t.Errorf("the table has no %s", kind.Name)
		}
	}
}
