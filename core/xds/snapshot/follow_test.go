package snapshot_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

const followed = `
type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]
  outbound:
    - {port: 1, address: 127.0.0.1, tags: {kuma.io/service: api}}
    - {port: 2, address: 127.0.0.1, tags: {kuma.io/service: db}}
---
type: Dataplane
name: api
networking: {address: 10.0.0.2, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: api}}]}
---
{type: MeshTimeout, name: t, spec: {to: [{default: {connectionTimeout: 1s}}]}}
`

// A builder that has followed the changes of an engine in Kuma's semantics answers as a
// new one does: permissions apply with an identity (SPEC 17.1).
func TestBuilderFollowsIdentities(t *testing.T) {
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: semantics.Kuma})
	loader := resource.Loader{Kinds: kinds.All()}
	builder := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true})
	var versions []string
	for _, upsert := range []string{
		followed,
		`{type: Mesh, name: default, mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}}`,
		`{type: Mesh, name: default, mtls: {enabledBackend: "", backends: [{name: ca, type: builtin}]}}`,
		`{type: MeshIdentity, name: i, spec: {selector: {dataplane: {}}, provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}`,
	} {
		set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(upsert)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Apply(t.Context(), core.Batch{Upsert: set}); err != nil {
			t.Fatal(err)
		}
		want := answersOf(snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(engine.View()))
		got := answersOf(builder.At(engine.View()))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("-a new builder +this one:\n%s", diff)
		}
		versions = append(versions, got["web/Envoy has listeners inbound/10.0.0.1/80"])
	}
	open, closed, reopened, identified := versions[0], versions[1], versions[2], versions[3]
	if open == "" || open == closed || open != reopened || identified == open || identified == closed {
		t.Errorf("the listener has the versions %q", versions)
	}
}

// A builder that has followed the changes of an engine answers as a new one does, by
// name and by locator.
func TestBuilderFollowsChanges(t *testing.T) {
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	loader := resource.Loader{Kinds: kinds.All()}
	builder, audited := snapshot.NewBuilder(translators.All(), snapshot.Options{}), snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true})
	for _, change := range []struct {
		name, upsert string
		remove       resource.ID
	}{
		{name: "the first load", upsert: followed},
		{name: "a policy changes", upsert: `{type: MeshTimeout, name: t, spec: {to: [{default: {connectionTimeout: 2s}}]}}`},
		{name: "what shapes inbounds alone appears", upsert: `
{type: MeshRateLimit, name: limit, spec: {from: [{targetRef: {kind: Mesh}, default: {local: {http: {requestRate: {num: 5, interval: 1s}}}}}]}}`},
		{name: "and changes, and a policy for outbounds asks for what they cannot do", upsert: `
{type: MeshRateLimit, name: limit, spec: {from: [{targetRef: {kind: Mesh}, default: {local: {http: {requestRate: {num: 6, interval: 1s}}}}}]}}
---
{type: MeshRetry, name: r, spec: {to: [{targetRef: {kind: MeshService, name: db}, default: {http: {numRetries: 2}}}]}}`},
		{name: "inbounds change, and the warning of outbounds remains", upsert: `
{type: MeshTrafficPermission, name: p, spec: {rules: [{default: {allow: [{spiffeID: {type: Exact, value: "spiffe://a/b"}}]}}]}}`},
		{name: "what shapes finished parts appears", upsert: `
{type: MeshProxyPatch, name: patch, spec: {default: {appendModifications: [{cluster: {operation: Patch, match: {name: default/api}, value: "connect_timeout: 9s"}}]}}}`},
		{name: "a destination has variants", upsert: `
type: MeshTimeout
name: of-web
spec: {targetRef: {kind: MeshService, name: web}, to: [{targetRef: {kind: MeshService, name: api}, default: {connectionTimeout: 3s}}]}`},
		{name: "a dataplane leaves a destination", upsert: `
type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]
  outbound: [{port: 1, address: 127.0.0.1, tags: {kuma.io/service: api}}]`},
		{name: "transparent proxying", upsert: `
type: Dataplane
name: redirected
networking:
  address: 10.0.0.9
  transparentProxying: {redirectPortOutbound: 15001}`},
		{name: "passthrough is logged", upsert: `
{type: MeshAccessLog, name: log, spec: {to: [{targetRef: {kind: Mesh}, default: {backends: [{type: File, file: {path: /tmp/log}}]}}]}}`},
		{name: "the log of passthrough changes", upsert: `
{type: MeshAccessLog, name: log, spec: {to: [{targetRef: {kind: Mesh}, default: {backends: [{type: File, file: {path: /tmp/other}}]}}]}}`},
		{name: "the log is sent to a collector that is absent", upsert: `
{type: MeshAccessLog, name: log, spec: {to: [{targetRef: {kind: Mesh}, default: {backends: [{type: OpenTelemetry, openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, labels: {team: infra}}}}]}}]}}`},
		{name: "the mesh turns passthrough off", upsert: `{type: Mesh, name: default, networking: {outbound: {passthrough: false}}}`},
		{name: "the mesh turns passthrough on", upsert: `{type: Mesh, name: default}`},
		{name: "traces go to a collector that is absent", upsert: `
{type: MeshTrace, name: t, spec: {default: {backends: [{type: OpenTelemetry, openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, labels: {team: infra}}}}]}}}`},
		{name: "the collector appears", upsert: `{type: MeshOpenTelemetryBackend, name: otel, labels: {team: infra}, creationTime: "2026-02-02T00:00:00Z"}`},
		{name: "the collector changes", upsert: `
{type: MeshOpenTelemetryBackend, name: otel, labels: {team: infra}, creationTime: "2026-02-02T00:00:00Z", spec: {endpoint: {address: 10.9.9.9}}}`},
		{name: "an older collector appears", upsert: `
{type: MeshOpenTelemetryBackend, name: older, labels: {team: infra}, creationTime: "2026-01-01T00:00:00Z", spec: {protocol: http}}`},
		{name: "the older collector is removed", remove: resource.ID{Kind: "MeshOpenTelemetryBackend", Mesh: "default", Name: "older"}},
		{name: "the last collector is removed", remove: resource.ID{Kind: "MeshOpenTelemetryBackend", Mesh: "default", Name: "otel"}},
		{name: "an endpoint is removed", remove: resource.ID{Kind: "Dataplane", Mesh: "default", Name: "api"}},
		{name: "a policy is removed", remove: resource.ID{Kind: "MeshTimeout", Mesh: "default", Name: "t"}},
		{name: "the last dataplane is removed", remove: resource.ID{Kind: "Dataplane", Mesh: "default", Name: "web"}},
	} {
		t.Run(change.name, func(t *testing.T) {
			batch := core.Batch{}
			if change.upsert != "" {
				set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(change.upsert)})
				if err != nil {
					t.Fatal(err)
				}
				batch.Upsert = set
			} else {
				batch.Delete = []resource.ID{change.remove}
			}
			if _, err := engine.Apply(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			want := answersOf(snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(engine.View()))
			for _, b := range []*snapshot.Builder{builder, audited} {
				if diff := cmp.Diff(want, answersOf(b.At(engine.View()))); diff != "" {
					t.Errorf("-a new builder +this one:\n%s", diff)
				}
			}
		})
	}
}

// A policy that shapes inbounds alone does not cost what a dataplane has outbounds: they are
// not found again.
func TestOutboundsAreKept(t *testing.T) {
	rate := func(requests int) core.Batch {
		set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(t.Context(), resource.Input{Name: "p.yaml", Data: fmt.Appendf(nil,
			`{type: MeshRateLimit, name: limit, spec: {from: [{targetRef: {kind: Mesh}, default: {local: {http: {requestRate: {num: %d, interval: 1s}}}}}]}}`, requests)})
		if err != nil {
			t.Fatal(err)
		}
		return core.Batch{Upsert: set}
	}
	allocations := func(outbounds int) int {
		engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
		builder := snapshot.NewBuilder(translators.All(), snapshot.Options{})
		d := shape.Dataplane(0, outbounds)
		made := func(batch core.Batch) int {
			if _, err := engine.Apply(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			state := builder.At(engine.View())
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			state.Snapshot(d, xds.Envoy)
			runtime.ReadMemStats(&after)
			return int(after.Mallocs - before.Mallocs)
		}
		made(core.Batch{Upsert: &resource.Set{Dataplanes: []*resource.Dataplane{d}}})
		made(rate(1))
		return min(made(rate(2)), made(rate(3)), made(rate(4)))
	}
	few, many := allocations(5), allocations(300)
	if many > few+150 {
		t.Errorf("%d allocations with 5 outbounds, and %d with 300", few, many)
	}
}

// The policies that shaped a resource are the policies of the confs that its translators read.
func TestShapedBy(t *testing.T) {
	state := stateOf(t, followed)
	snapshot := state.Snapshot(state.View().Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: "web"}), xds.Envoy)
	cluster := snapshot.Resources(wire.ClusterType)[0]
	if policies := snapshot.ShapedBy(cluster); len(policies) != 1 || policies[0].Name != "t" {
		t.Errorf("%s is shaped by %v, want the MeshTimeout t", cluster.Name, policies)
	}
	if policies := snapshot.ShapedBy(message.NewResource(wire.ClusterType, "other", message.NewCollectorCluster("other", "host", 1, nil, false))); policies != nil {
		t.Errorf("a resource of another snapshot is shaped by %v", policies)
	}
}

func TestTypeOf(t *testing.T) {
	for kind := range wire.Type(wire.NumTypes) {
		if got, ok := wire.TypeOf(kind.URL()); !ok || got != kind {
			t.Errorf("%s: got %v, %v", kind.URL(), got, ok)
		}
	}
	if got, ok := wire.TypeOf("type.googleapis.com/google.protobuf.Empty"); ok {
		t.Errorf("got %v for a type that no resource has", got)
	}
}

// A mesh whose CAs have one trust domain has this trust domain (SPEC 11.6).
func TestBundledTrustDomain(t *testing.T) {
	bundled := func(name, domain string) string {
		return `{type: MeshIdentity, name: ` + name + `, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: "` + domain + `"},
  provider: {type: Bundled, bundled: {meshTrustCreation: Enabled, insecureAllowSelfSigned: true, autogenerate: {enabled: true}}}}}
---
`
	}
	for name, test := range map[string]struct{ mesh, want string }{
		"one":                             {bundled("a", "shop"), "shop"},
		"two identities of one":           {bundled("a", "shop") + bundled("b", "shop"), "shop"},
		"two":                             {bundled("a", "shop") + bundled("b", "other"), ""},
		"one for each zone":               {bundled("a", "{{ .Zone }}.mesh"), ""},
		"no identity of provider Bundled": {`{type: MeshIdentity, name: a, spec: {provider: {type: Spire}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := identity.BundledTrustDomain(stateOf(t, test.mesh).View().Identities("default"), stateOf(t, test.mesh).View().Trusts("default")); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A change of a collector builds again what refers to it, and nothing else: another address
// of a gRPC collector changes one cluster and no listener (SPEC 17.4).
func TestCollectorChangesItsCluster(t *testing.T) {
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef})
	loader := resource.Loader{Kinds: kinds.All()}
	builder := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true})
	at := func(upsert string) (web, api *snapshot.Snapshot) {
		t.Helper()
		set, err := loader.Decode(t.Context(), resource.Input{Name: "mesh.yaml", Data: []byte(upsert)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := engine.Apply(t.Context(), core.Batch{Upsert: set}); err != nil {
			t.Fatal(err)
		}
		of := func(name string) *snapshot.Snapshot {
			d := engine.View().Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: name})
			return builder.At(engine.View()).Snapshot(d, xds.Envoy)
		}
		return of("web"), of("api")
	}
	web, api := at(followed + `---
{type: MeshOpenTelemetryBackend, name: otel, labels: {team: infra}, spec: {endpoint: {address: 10.9.9.8}}}
---
{type: MeshTrace, name: t, spec: {targetRef: {kind: MeshService, name: web}, default: {backends: [{type: OpenTelemetry, openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend, labels: {team: infra}}}}]}}}
`)
	moved, other := at(`{type: MeshOpenTelemetryBackend, name: otel, labels: {team: infra}, spec: {endpoint: {address: 10.9.9.9}}}`)
	if other != api {
		t.Error("the snapshot of a dataplane without the collector was built again")
	}
	var changed []string
	for kind := range wire.Type(wire.NumTypes) {
		for i, r := range moved.Resources(kind) {
			if r.Version != web.Resources(kind)[i].Version {
				changed = append(changed, r.Name)
			}
		}
	}
	if diff := cmp.Diff([]string{"collector/kri_motb_default___otel_"}, changed); diff != "" {
		t.Errorf("changed resources, -want +got:\n%s", diff)
	}
}
