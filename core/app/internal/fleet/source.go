package fleet

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/world"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/xds/sds"
	"github.com/meshmatch/meshmatch/core/internal/xds/streams"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A mesh is an engine and what a source serves of it. It implements server.Source.
type mesh struct {
	engine  *core.Engine
	builder *snapshot.Builder
	issuer  *sds.Issuer
	now     time.Time // of certificates
	nodes   []string
	ids     []resource.ID // of the nodes
	current atomic.Pointer[state]
}

// team is the team whose policy is edited: a fiftieth of the dataplanes.
const team = 7

// newMesh applies a world to an engine.
func newMesh(ctx context.Context, of world.Shape, dataplanes, policies, outbounds int) (*mesh, error) {
	m := &mesh{
		engine:  core.NewEngine(kinds.All(), core.Options{Semantics: of.Semantics()}),
		builder: snapshot.NewBuilder(translators.All(), snapshot.Options{}),
		issuer:  sds.NewIssuer(ca.NewAuthorities("")), now: time.Now(),
	}
	set := of.Resources(dataplanes, policies, outbounds)
	for _, d := range set.Dataplanes {
		m.nodes, m.ids = append(m.nodes, d.KRI("")), append(m.ids, d.ID)
	}
	if err := m.apply(ctx, set); err != nil {
		return nil, err
	}
	identity, err := decode(ctx, `
type: MeshIdentity
mesh: `+shape.Mesh+`
name: identity
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {path: "/sa/{{ label \"app\" }}"}
  provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}
`)
	if err != nil {
		return nil, err
	}
	if err := m.apply(ctx, identity); err != nil {
		return nil, err
	}
	if err := m.editAll(ctx, 0); err != nil {
		return nil, err
	}
	return m, m.editTeam(ctx, 0)
}

func decode(ctx context.Context, text string) (*resource.Set, error) {
	return (&resource.Loader{Kinds: kinds.All()}).Decode(ctx, resource.Input{Name: "fleet.yaml", Data: []byte(text)})
}

func (m *mesh) apply(ctx context.Context, set *resource.Set) error {
	_, err := m.engine.Apply(ctx, core.Batch{Upsert: set})
	return err
}

// editTeam makes a policy of a team new, with another content for each number.
func (m *mesh) editTeam(ctx context.Context, number int) error {
	set, err := decode(ctx, fmt.Sprintf(`
type: MeshTimeout
mesh: %s
name: team
spec:
  targetRef: {kind: MeshSubset, tags: {team: %s}}
  to: [{targetRef: {kind: Mesh}, default: {http: {streamIdleTimeout: %ds}}}]
`, shape.Mesh, shape.Team(team), 1000+number))
	if err != nil {
		return err
	}
	return m.apply(ctx, set)
}

// editAll makes a policy of the whole mesh new.
func (m *mesh) editAll(ctx context.Context, number int) error {
	return m.apply(ctx, &resource.Set{Policies: []*resource.Policy{shape.MeshPerfRateLimit(uint32(10_000 + number))}})
}

// renew makes all certificates due.
func (m *mesh) renew() { m.now = m.now.Add(ca.DefaultLifetime) }

// publish serves what the engine has now.
func (m *mesh) publish() {
	view := m.engine.View()
	next := &state{mesh: m, state: m.builder.At(view), secrets: m.issuer.SecretsAt(view, m.now), superseded: make(chan struct{})}
	if before := m.current.Swap(next); before != nil {
		close(before.superseded)
	}
}

// Current implements server.Source.
func (m *mesh) Current() (server.State, <-chan struct{}) {
	s := m.current.Load()
	return s, s.superseded
}

// state implements server.State. The id of a node is the KRI of its dataplane.
type state struct {
	mesh       *mesh
	state      *snapshot.State
	secrets    *sds.Secrets
	superseded chan struct{}
}

// Node implements server.State.
func (s *state) Node(node *server.Node) (*wire.Snapshot, bool) {
	d := s.state.View().DataplaneOf(node.ID)
	if d == nil {
		return nil, false
	}
	known := s.servedTo(d)
	node.Memo = known
	return known.snapshot.Served(known.secrets.Secrets), true
}

// Keeps is for server.State.
func (s *state) Keeps(node *server.Node, before server.State) bool {
	known, ok := node.Memo.(*served)
	return ok && s.secrets.Keeps(known.snapshot.Dataplane, &known.secrets) && s.state.Keeps(known.snapshot, before.(*state).state)
}

// served is what a node is served.
type served struct {
	snapshot *snapshot.Snapshot
	secrets  sds.Issued
}

// servedTo returns what a dataplane is served. If a certificate cannot be signed, it is left out, and
// a hash differs.
func (s *state) servedTo(d *resource.Dataplane) *served {
	secrets, _ := s.secrets.IssuedFor(d)
	return &served{s.state.Snapshot(d, xds.Envoy), secrets}
}

// Locate implements server.State.
func (s *state) Locate(node *server.Node, t wire.Type, name string, parameters map[string]string) (wire.Variant, bool) {
	return s.state.Locate(t, name, parameters)
}

// An answer is what a proxy should have.
type answer struct {
	snapshot *wire.Snapshot
	sum      uint64
}

// answers returns what each proxy should have, computed on all processors.
func (m *mesh) answers(ctx context.Context) ([]answer, error) {
	s := m.current.Load()
	all := make([]answer, len(m.ids))
	var group sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(all) && ctx.Err() == nil; i += workers {
				of := s.servedTo(s.state.View().Dataplane(m.ids[i]))
				snapshot := of.snapshot.Served(of.secrets.Secrets)
				all[i] = answer{snapshot, streams.SumOf(snapshot)}
			}
		})
	}
	group.Wait()
	return all, context.Cause(ctx)
}
