package serve

import (
	"sync"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/serve/proxied"
	"github.com/meshmatch/meshmatch/core/internal/xds/sds"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// publication is what is served until the next one. It implements [server.State].
type publication struct {
	set        *resource.Set // nil before the first load
	state      *snapshot.State
	secrets    *sds.Secrets // nil: keys are not served
	grpc       *grpcNodes
	good       *lastGood
	causes     snapshot.Causes // of drains
	superseded chan struct{}   // closed when there is a newer publication
	shown      *proxied.State  // what HTTP answers about; nil before the first load
	// owners evaluates the identities of all dataplanes at the first call.
	owners func() *owners
	// ambiguous returns the trust domains that several meshes share. It finds them at the
	// first call.
	ambiguous func() map[string]bool
}

// publisher holds the publication that streams read. It implements [server.Source].
type publisher struct{ current atomic.Pointer[publication] }

// Current implements [server.Source].
func (p *publisher) Current() (server.State, <-chan struct{}) {
	current := p.current.Load()
	return current, current.superseded
}

// publish replaces the current publication. It is called by one goroutine.
func (p *publisher) publish(next *publication) {
	next.superseded = make(chan struct{})
	if next.set != nil {
		next.shown = &proxied.State{View: next.view(), Set: next.set, Snapshots: next.state, Superseded: next.superseded}
	}
	next.ambiguous = sync.OnceValue(func() map[string]bool { return ambiguous(next.view()) })
	next.owners = sync.OnceValue(func() *owners { return ownersOf(next.view(), next.ambiguous()) })
	if before := p.current.Swap(next); before != nil {
		close(before.superseded)
	}
}

// view returns the view. The rest of the publication is computed from it.
func (p *publication) view() *core.View { return p.state.View() }

// Node implements [server.State].
func (p *publication) Node(node *server.Node) (*wire.Snapshot, bool) {
	d := p.view().DataplaneOf(node.ID)
	if d == nil {
		return nil, false
	}
	client, err := xds.ClientBy(node.UserAgent, node.Version)
	if err != nil {
		return nil, false // its stream ends: see oldVersions
	}
	if client.Type == xds.ProxylessGRPC {
		p.grpc.add(d.ID)
	}
	built := p.state.SnapshotFor(d, client)
	known := &answer{snapshot: built}
	if client.Type == xds.Envoy {
		if built = p.good.lastGoodFor(d, client, built, &p.causes); built == nil {
			return nil, false
		}
	}
	if node.Memo = nil; built == known.snapshot { // another one is not of this state
		node.Memo = known
	}
	if p.secrets == nil || node.NoSecrets {
		return built.ServedWithoutKeys(), true
	}
	known.secrets, _ = p.secrets.IssuedFor(d) // the error is one of the problems of the secrets, or a warning of the snapshot
	return built.Served(known.secrets.Secrets), true
}

// answer is what a node was answered.
type answer struct {
	snapshot *snapshot.Snapshot
	secrets  sds.Issued // the zero Issued: it has none
}

// Keeps is for [server.State].
func (p *publication) Keeps(node *server.Node, before server.State) bool {
	known, ok := node.Memo.(*answer)
	last := before.(*publication)
	if !ok || (p.secrets == nil) != (last.secrets == nil) || !p.state.Keeps(known.snapshot, last.state) {
		return false
	}
	return p.secrets == nil || node.NoSecrets || p.secrets.Keeps(known.snapshot.Dataplane, &known.secrets)
}

// IsLong is optional for a [server.State]: the modifications of a MeshProxyPatch are done on each
// resource of a dataplane.
func (p *publication) IsLong(node *server.Node) bool {
	d := p.view().DataplaneOf(node.ID)
	if d == nil {
		return false
	}
	config, err := p.view().Config(d, "MeshProxyPatch", core.Enforced)
	if err != nil || config == nil || config.Default == nil {
		return false
	}
	return results.MustConfOf[meshproxypatch.Conf](config.Default).IsLong()
}

// Locate implements [server.State].
func (p *publication) Locate(node *server.Node, t wire.Type, name string, parameters map[string]string) (wire.Variant, bool) {
	client, err := xds.ClientBy(node.UserAgent, node.Version)
	if err != nil {
		return wire.Variant{}, false // its stream ends: see oldVersions
	}
	return p.state.LocateFor(client, t, name, parameters)
}

// Relocated is for [server.State].
func (p *publication) Relocated(node *server.Node, before server.State) ([]string, bool) {
	client, err := xds.ClientBy(node.UserAgent, node.Version)
	if err != nil {
		return nil, false
	}
	return p.state.Relocated(client, before.(*publication).state)
}
