package main

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/xds/sds"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// An edit switches a mesh between two states: forth and back undo each other, or each makes
// something new.
type edit struct {
	label, name string
	prepare     func(context.Context, *mesh) error // before the first of them; may be nil
	forth, back func(context.Context, *mesh) error
}

// edits returns those of mesh-perf's tests for a graph of so many services, and one more:
// certificates that are renewed.
func edits(services int) []edit {
	upsert := func(set *resource.Set) func(context.Context, *mesh) error {
		return func(ctx context.Context, m *mesh) error { return m.apply(ctx, core.Batch{Upsert: set}) }
	}
	remove := func(id resource.ID) func(context.Context, *mesh) error {
		return func(ctx context.Context, m *mesh) error { return m.apply(ctx, core.Batch{Delete: []resource.ID{id}}) }
	}
	rateLimit := func(requests uint32) func(context.Context, *mesh) error {
		return upsert(&resource.Set{Policies: []*resource.Policy{shape.MeshPerfRateLimit(requests)}})
	}
	scaled := shape.MeshPerfInstance(shape.MeshPerfScaled(services), 2)
	return []edit{
		{label: "rate limit", name: "a rate limit for the whole mesh", forth: rateLimit(10_000), back: rateLimit(20_000)},
		{
			label: "one instance", name: "one more instance of the first service that another one calls",
			forth: upsert(&resource.Set{Dataplanes: []*resource.Dataplane{scaled}}), back: remove(scaled.ID),
		},
		{
			label: "certificates", name: "mutual TLS, with a certificate for each proxy",
			forth: func(ctx context.Context, m *mesh) error {
				m.issuer = sds.NewIssuer(m.authorities) // without the certificates of before
				return identify(ctx, m)
			},
			back: remove(bundledIdentity),
		},
		{label: "renewal", name: "all certificates are renewed", prepare: identify, forth: renew, back: renew},
	}
}

var bundledIdentity = resource.ID{Kind: resource.MeshIdentityKind, Mesh: shape.Mesh, Name: "bundled"}

// identify gives each dataplane an identity, so all connections use mutual TLS.
func identify(ctx context.Context, m *mesh) error {
	set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(ctx, resource.Input{Name: "identity.yaml", Data: []byte(`
type: MeshIdentity
mesh: ` + shape.Mesh + `
name: ` + bundledIdentity.Name + `
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {path: "/sa/{{ label \"app\" }}"}
  provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}
`)})
	if err != nil {
		return err
	}
	return m.apply(ctx, core.Batch{Upsert: set})
}

// renew advances the time until all certificates are due for renewal.
func renew(_ context.Context, m *mesh) error {
	m.now = m.now.Add(ca.DefaultLifetime)
	return nil
}

// A mesh is an engine, the builder of what its dataplanes are served, and the issuer of their
// certificates.
type mesh struct {
	engine      *core.Engine
	builder     *snapshot.Builder
	dataplanes  []*resource.Dataplane // those that are always there
	authorities *ca.Authorities
	issuer      *sds.Issuer
	now         time.Time // of certificates
}

// newMeshOf returns the mesh of an engine that has these dataplanes.
func newMeshOf(engine *core.Engine, dataplanes []*resource.Dataplane, authorities *ca.Authorities) *mesh {
	return &mesh{
		engine: engine, builder: snapshot.NewBuilder(translators.All(), snapshot.Options{}), dataplanes: dataplanes,
		authorities: authorities, issuer: sds.NewIssuer(authorities), now: time.Now(),
	}
}

// newMesh returns mesh-perf's graph with the edit undone.
func newMesh(ctx context.Context, services int, e edit, authorities *ca.Authorities) (*mesh, error) {
	m := newMeshOf(core.NewEngine(kinds.All(), core.Options{Semantics: core.TargetRef}), shape.MeshPerf(services, 2), authorities)
	if err := m.apply(ctx, core.Batch{Upsert: &resource.Set{Dataplanes: m.dataplanes}}); err != nil {
		return nil, err
	}
	for _, change := range []func(context.Context, *mesh) error{e.prepare, e.forth, e.back} { // back removes nothing that is not there
		if change == nil {
			continue
		}
		if err := change(ctx, m); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *mesh) apply(ctx context.Context, batch core.Batch) error {
	_, err := m.engine.Apply(ctx, batch)
	return err
}

// state returns what a server serves now.
func (m *mesh) state() *served {
	view := m.engine.View()
	return &served{m.builder.At(view), m.issuer.SecretsAt(view, m.now)}
}

// served implements server.State. The id of a node is the KRI of its dataplane.
type served struct {
	state   *snapshot.State
	secrets *sds.Secrets
}

func (s *served) Node(node *server.Node) (*wire.Snapshot, bool) {
	id, _, ok := resource.ParseDataplaneKRI(node.ID)
	if !ok {
		return nil, false
	}
	d := s.state.View().Dataplane(id)
	if d == nil {
		return nil, false
	}
	known := &answer{}
	known.secrets, _ = s.secrets.IssuedFor(d)
	known.snapshot = s.state.Snapshot(d, xds.Envoy)
	node.Memo = known
	return known.snapshot.Served(known.secrets.Secrets), true
}

// answer is what a node was answered.
type answer struct {
	snapshot *snapshot.Snapshot
	secrets  sds.Issued
}

// Keeps is for server.State.
func (s *served) Keeps(node *server.Node, before server.State) bool {
	known, ok := node.Memo.(*answer)
	return ok && s.secrets.Keeps(known.snapshot.Dataplane, &known.secrets) && s.state.Keeps(known.snapshot, before.(*served).state)
}

// servedTo returns what a dataplane is served. A certificate that cannot be signed is left out, and
// the proxy then waits without end.
func (s *served) servedTo(d *resource.Dataplane) *wire.Snapshot {
	issued, _ := s.secrets.IssuedFor(d)
	return s.state.Snapshot(d, xds.Envoy).Served(issued.Secrets)
}

func (s *served) Locate(*server.Node, wire.Type, string, map[string]string) (wire.Variant, bool) {
	return wire.Variant{}, false
}

// snapshots returns what the dataplanes are served, built on all processors.
func (m *mesh) snapshots() []*wire.Snapshot {
	state := m.state()
	all := make([]*wire.Snapshot, len(m.dataplanes))
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(all); i += workers {
				all[i] = state.servedTo(state.state.View().Dataplane(m.dataplanes[i].ID))
			}
		})
	}
	group.Wait()
	return all
}
