package main

import (
	"context"
	"runtime"
	"sync"

	"github.com/meshmatch/meshmatch/bench/shape"
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// An edit switches a mesh between two states: forth and back undo each other.
type edit struct {
	label, name string
	forth, back func(context.Context) (core.Batch, error)
}

// edits returns those of mesh-perf's tests.
func edits() []edit {
	rateLimit := func(requests uint32) func(context.Context) (core.Batch, error) {
		return func(context.Context) (core.Batch, error) {
			return core.Batch{Upsert: &resource.Set{Policies: []*resource.Policy{shape.MeshPerfRateLimit(requests)}}}, nil
		}
	}
	scaled := shape.MeshPerfInstance(meshPerfScaled, 2)
	return []edit{
		{"rate limit", "a rate limit for the whole mesh", rateLimit(10_000), rateLimit(20_000)},
		{
			"one instance", "one more instance of a service",
			func(context.Context) (core.Batch, error) {
				return core.Batch{Upsert: &resource.Set{Dataplanes: []*resource.Dataplane{scaled}}}, nil
			},
			func(context.Context) (core.Batch, error) { return core.Batch{Delete: []resource.ID{scaled.ID}}, nil },
		},
		{"certificates", "certificates for all", identity, func(context.Context) (core.Batch, error) {
			return core.Batch{Delete: []resource.ID{{Kind: resource.MeshIdentityKind, Mesh: shape.Mesh, Name: "files"}}}, nil
		}},
	}
}

// meshPerfScaled is the service that gets another instance. The tests scale the first one,
// which nothing calls.
const meshPerfScaled = 19

// identity gives each dataplane a certificate, so all connections use mutual TLS.
func identity(ctx context.Context) (core.Batch, error) {
	set, err := (&resource.Loader{Kinds: kinds.All()}).Decode(ctx, resource.Input{Name: "identity.yaml", Data: []byte(`
type: MeshIdentity
mesh: ` + shape.Mesh + `
name: files
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {path: "/sa/{{ label \"app\" }}"}
  provider:
    type: Extension
    extension: {name: files, config: {certificate: /certs/cert.pem, privateKey: /certs/key.pem, trustBundle: /certs/ca.pem}}
`)})
	return core.Batch{Upsert: set}, err
}

// A mesh is an engine, and the builder of what its dataplanes are served.
type mesh struct {
	engine     *core.Engine
	builder    *snapshot.Builder
	dataplanes []*resource.Dataplane // those that are always there
}

// newMeshOf returns the mesh of an engine that has these dataplanes.
func newMeshOf(engine *core.Engine, dataplanes []*resource.Dataplane) *mesh {
	return &mesh{engine, snapshot.NewBuilder(translators.All(), snapshot.Options{}), dataplanes}
}

// newMesh returns mesh-perf's graph with the edit undone.
func newMesh(ctx context.Context, services int, e edit) (*mesh, error) {
	m := newMeshOf(core.NewEngine(kinds.All(), core.Options{}), shape.MeshPerf(services, 2))
	if _, err := m.engine.Apply(ctx, core.Batch{Upsert: &resource.Set{Dataplanes: m.dataplanes}}); err != nil {
		return nil, err
	}
	// Back removes nothing that is not there.
	if err := m.apply(ctx, e.forth); err != nil {
		return nil, err
	}
	return m, m.apply(ctx, e.back)
}

func (m *mesh) apply(ctx context.Context, batch func(context.Context) (core.Batch, error)) error {
	b, err := batch(ctx)
	if err == nil {
		_, err = m.engine.Apply(ctx, b)
	}
	return err
}

// state returns what a server serves now.
func (m *mesh) state() *served {
	return &served{m.builder.At(m.engine.View())}
}

// served implements server.State. The id of a node is the KRI of its dataplane.
type served struct{ state *snapshot.State }

func (s *served) Node(node *server.Node) (*wire.Snapshot, bool) {
	id, _, ok := resource.ParseDataplaneKRI(node.ID)
	if !ok {
		return nil, false
	}
	d := s.state.View().Dataplane(id)
	if d == nil {
		return nil, false
	}
	return s.of(d), true
}

func (s *served) of(d *resource.Dataplane) *wire.Snapshot {
	return s.state.Snapshot(d, xds.Envoy).Served(nil)
}

func (s *served) Locate(wire.Type, string, map[string]string) (wire.Variant, bool) {
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
				all[i] = state.of(state.state.View().Dataplane(m.dataplanes[i].ID))
			}
		})
	}
	group.Wait()
	return all
}
