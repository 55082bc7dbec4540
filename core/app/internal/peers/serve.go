package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

const goControlPlane = "go-control-plane"

// serving compares serving mesh-perf's graph to its proxies by delta ADS.
func serving(services int) []comparison {
	subject := fmt.Sprintf("Serving: the graph of mesh-perf, %s services with 2 instances, by delta ADS", grouped(services))
	proxies := grouped(2*services) + " proxies"
	input := proxies + ", in-memory connections of gRPC with 50 streams each"
	var list []comparison
	for i, e := range edits(services) {
		list = append(list, comparison{
			subject: subject, label: "send, " + e.label, work: "send finished resources until each proxy has them: " + e.name, input: input, source: shape.MeshPerfSource, unit: "s",
			note: "the clients, which are in the process, are in both times; meshmatch is given bytes, and go-control-plane messages",
			prepare: func(ctx context.Context, s size) (*contest, error) {
				services := s.pick(services, 25)
				return serveEdit(ctx, services, edits(services)[i], true)
			},
		}, comparison{
			subject: subject, label: "edit, " + e.label, work: "an edit until each proxy has it: " + e.name, input: input, source: shape.MeshPerfSource, unit: "s",
			note: "the clients are in both times; meshmatch starts from the edited resource, computes what it means for each proxy, and signs certificates (\"a new certificate for each proxy\" measures that alone). Go-control-plane starts from finished messages, and neither is in its time",
			prepare: func(ctx context.Context, s size) (*contest, error) {
				services := s.pick(services, 25)
				return serveEdit(ctx, services, edits(services)[i], false)
			},
		})
	}
	return append(list,
		signing(subject, services),
		comparison{
			subject: subject, label: "connect all", work: "all proxies connect, until each has everything", input: input, source: shape.MeshPerfSource, unit: "s",
			note:    "the clients are in both times; all snapshots are made before",
			prepare: func(ctx context.Context, s size) (*contest, error) { return serveConnects(ctx, s.pick(services, 25)) },
		},
		comparison{
			subject: subject, label: "heap", work: "heap of the snapshots", input: proxies, source: shape.MeshPerfSource, unit: "B",
			note:    "for each proxy; meshmatch's figure includes its engine and shares equal resources; go-control-plane's cache has messages for each node",
			prepare: func(ctx context.Context, s size) (*contest, error) { return heapOfSnapshots(ctx, s.pick(services, 25)) },
		},
	)
}

// A publisher is meshmatch's source of states.
type publisher struct{ current atomic.Pointer[publication] }

type publication struct {
	state      server.State
	superseded chan struct{}
}

func (p *publisher) publish(state server.State) {
	if before := p.current.Swap(&publication{state, make(chan struct{})}); before != nil {
		close(before.superseded)
	}
}

// Current implements server.Source.
func (p *publisher) Current() (server.State, <-chan struct{}) {
	c := p.current.Load()
	return c.state, c.superseded
}

// serveMeshmatch starts meshmatch's server.
func serveMeshmatch(source server.Source) *management {
	// All proxies are one peer here: the address of an in-memory connection.
	s := server.New(server.Options{Source: source, MaxStreamsPerPeer: math.MaxInt32})
	return newManagement(s.GRPCOptions(nil), func(ctx context.Context, g *grpc.Server) {
		s.Register(g)
		go s.Run(ctx)
	})
}

// servePeer starts go-control-plane's server.
func servePeer(cache cachev3.SnapshotCache) *management {
	return newManagement(nil, func(ctx context.Context, g *grpc.Server) {
		discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, serverv3.NewServer(ctx, cache, nil))
	})
}

// peerSnapshots returns the same resources as snapshots of go-control-plane, one list for each
// version of the snapshots. Each node has messages of its own, which its versions share.
func peerSnapshots(versions ...[]*wire.Snapshot) ([][]*cachev3.Snapshot, error) {
	list := make([][]*cachev3.Snapshot, len(versions))
	for node := range versions[0] {
		messages := map[*wire.Resource]types.Resource{}
		for v, snapshots := range versions {
			s, err := peerSnapshot(fmt.Sprint(v), snapshots[node], messages)
			if err != nil {
				return nil, err
			}
			list[v] = append(list[v], s)
		}
	}
	return list, nil
}

// peerSnapshot returns one snapshot. It adds what it decodes to the messages.
func peerSnapshot(version string, s *wire.Snapshot, messages map[*wire.Resource]types.Resource) (*cachev3.Snapshot, error) {
	resources := map[string][]types.Resource{}
	for t, all := range s {
		for _, r := range all.Listed {
			m := messages[r]
			if m == nil {
				var err error
				if m, err = message.Decode(r); err != nil {
					return nil, err
				}
				messages[r] = m
			}
			url := wire.Type(t).URL()
			resources[url] = append(resources[url], m)
		}
	}
	return cachev3.NewSnapshot(version, resources)
}

// sides are both states of an edit.
type sides struct {
	nodes     []string
	snapshots [2][]*wire.Snapshot
	contents  [2][]content
	names     []names // of both states
}

// finished returns one side as a state of snapshots that are there already.
func (s *sides) finished(side int) finishedState {
	state := make(finishedState, len(s.nodes))
	for i, node := range s.nodes {
		snapshot := s.snapshots[side][i]
		if side == 1 && len(s.contents[1][i].changed(s.contents[0][i])) == 0 {
			snapshot = s.snapshots[0][i] // what does not change is the same pointer
		}
		state[node] = snapshot
	}
	return state
}

// finishedState implements server.State with a snapshot for each node.
type finishedState map[string]*wire.Snapshot

func (s finishedState) Node(node *server.Node) (*wire.Snapshot, bool) {
	snapshot, ok := s[node.ID]
	return snapshot, ok
}

func (s finishedState) Locate(*server.Node, wire.Type, string, map[string]string) (wire.Variant, bool) {
	return wire.Variant{}, false
}

// bothSides computes what each proxy has before and after an edit. The proxies whose
// contents are equal on both sides are not concerned by it.
func bothSides(ctx context.Context, services int, e edit, authorities *ca.Authorities) (*sides, error) {
	m, err := newMesh(ctx, services, e, authorities)
	if err != nil {
		return nil, err
	}
	s := new(sides)
	for _, d := range m.dataplanes {
		s.nodes = append(s.nodes, d.KRI(""))
	}
	contents := contentReader{}
	for side := range s.snapshots {
		if side == 1 {
			if err := e.forth(ctx, m); err != nil {
				return nil, err
			}
		}
		s.snapshots[side] = m.snapshots()
		for _, snapshot := range s.snapshots[side] {
			s.contents[side] = append(s.contents[side], contents.read(snapshot))
		}
	}
	for i := range s.nodes {
		s.names = append(s.names, namesOf(s.contents[0][i], s.contents[1][i]))
	}
	return s, nil
}

// serveEdit applies an edit and undoes it, in turn, until each proxy has the result. If it is
// finished, meshmatch's server is given the resources of both sides, as the peer is; if not,
// they are computed from the edit.
func serveEdit(ctx context.Context, services int, e edit, finished bool) (*contest, error) {
	authorities := ca.NewAuthorities("")
	s, err := bothSides(ctx, services, e, authorities)
	if err != nil {
		return nil, err
	}
	prepared, err := peerSnapshots(s.snapshots[0], s.snapshots[1])
	if err != nil {
		return nil, err
	}
	ours, change, err := ourEdit(ctx, services, e, s, authorities, finished)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", meshmatch, err)
	}
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	for i, node := range s.nodes {
		if err := cache.SetSnapshot(ctx, node, prepared[0][i]); err != nil {
			return nil, err
		}
	}
	theirs := servePeer(cache)
	if _, err := theirs.connect(s.nodes, s.contents[0], s.names); err != nil {
		return nil, fmt.Errorf("%s: %w", goControlPlane, err)
	}

	editor := func(name string, served *management, known bool, change func(side int) error) contender {
		side := 0
		step := func() (float64, error) {
			from, to := s.contents[side], s.contents[1-side]
			side = 1 - side
			expected := func(i int) content {
				changed := to[i].changed(from[i])
				if !known {
					changed = changed.unsigned()
				}
				return changed
			}
			return served.await(expected, len(s.nodes), func() error { return change(side) })
		}
		return contender{
			name: name,
			// Each proxy has compared the bytes that it got, when a step returns.
			answer: func() (string, error) {
				_, err := step()
				if err == nil {
					_, err = step()
				}
				return "all proxies have it", err
			},
			sample: step,
		}
	}
	return &contest{
		close: func() { ours.close(); theirs.close() },
		contenders: []contender{
			editor(meshmatch, ours, finished, change),
			editor(goControlPlane, theirs, true, func(side int) error {
				for i, node := range s.nodes {
					if len(s.contents[side][i].changed(s.contents[1-side][i])) == 0 {
						continue // the peer's user finds the nodes that are concerned
					}
					if err := cache.SetSnapshot(ctx, node, prepared[side][i]); err != nil {
						return err
					}
				}
				return nil
			}),
		},
	}, nil
}

// ourEdit starts meshmatch's server with proxies that have the first side, and returns what
// changes to a side.
func ourEdit(ctx context.Context, services int, e edit, s *sides, authorities *ca.Authorities, finished bool) (*management, func(side int) error, error) {
	source := &publisher{}
	if finished {
		states := [2]finishedState{s.finished(0), s.finished(1)}
		source.publish(states[0])
		ours := serveMeshmatch(source)
		change := func(side int) error {
			source.publish(states[side])
			return nil
		}
		_, err := ours.connect(s.nodes, s.contents[0], s.names)
		return ours, change, err
	}
	s.snapshots = [2][]*wire.Snapshot{} // what they have is made again
	m, err := newMesh(ctx, services, e, authorities)
	if err != nil {
		return nil, nil, err
	}
	source.publish(m.state())
	ours := serveMeshmatch(source)
	change := func(side int) error {
		apply := e.back
		if side == 1 {
			apply = e.forth
		}
		if err := apply(ctx, m); err != nil {
			return err
		}
		source.publish(m.state())
		return nil
	}
	first := make([]content, len(s.nodes))
	for i, c := range s.contents[0] {
		first[i] = c.unsigned()
	}
	_, err = ours.connect(s.nodes, first, s.names)
	return ours, change, err
}

// serveConnects connects all proxies to a new server.
func serveConnects(ctx context.Context, services int) (*contest, error) {
	e, authorities := edits(services)[0], ca.NewAuthorities("")
	s, err := bothSides(ctx, services, e, authorities)
	if err != nil {
		return nil, err
	}
	m, err := newMesh(ctx, services, e, authorities)
	if err != nil {
		return nil, err
	}
	kept := m.snapshots() // the builder keeps what is in use
	prepared, err := peerSnapshots(s.snapshots[0])
	if err != nil {
		return nil, err
	}
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	for i, node := range s.nodes {
		if err := cache.SetSnapshot(ctx, node, prepared[0][i]); err != nil {
			return nil, err
		}
	}
	connector := func(name string, start func() *management) contender {
		connect := func() (float64, error) {
			served := start()
			defer served.close()
			return served.connect(s.nodes, s.contents[0], s.names)
		}
		return contender{
			name: name,
			answer: func() (string, error) {
				_, err := connect()
				return "all proxies have everything", err
			},
			sample: connect,
		}
	}
	return &contest{
		close: func() { runtime.KeepAlive(kept) },
		contenders: []contender{
			connector(meshmatch, func() *management {
				source := &publisher{}
				source.publish(m.state())
				return serveMeshmatch(source)
			}),
			connector(goControlPlane, func() *management { return servePeer(cache) }),
		},
	}, nil
}

// heapOfSnapshots measures the heap of the snapshots of all proxies.
func heapOfSnapshots(ctx context.Context, services int) (*contest, error) {
	e, authorities := edits(services)[0], ca.NewAuthorities("")
	m, err := newMesh(ctx, services, e, authorities)
	if err != nil {
		return nil, err
	}
	snapshots := m.snapshots()
	weigh := func(name string, make func() (any, error), count func(any) int) contender {
		return contender{
			name: name,
			answer: func() (string, error) {
				made, err := make()
				if err != nil {
					return "", err
				}
				return fmt.Sprintf("%d resources", count(made)), nil
			},
			sample: func() (float64, error) {
				before := usage.Heap()
				made, err := make()
				after := usage.Heap()
				runtime.KeepAlive(made)
				return (after - before) / float64(len(m.dataplanes)), err
			},
		}
	}
	type kept struct {
		mesh      *mesh
		snapshots []*wire.Snapshot
	}
	return &contest{
		close: func() { runtime.KeepAlive(snapshots) },
		contenders: []contender{
			weigh(meshmatch, func() (any, error) {
				own, err := newMesh(ctx, services, e, authorities)
				if err != nil {
					return nil, err
				}
				return kept{own, own.snapshots()}, nil
			}, func(made any) int {
				n := 0
				for _, s := range made.(kept).snapshots {
					for _, resources := range s {
						n += len(resources.Listed)
					}
				}
				return n
			}),
			weigh(goControlPlane, func() (any, error) {
				prepared, err := peerSnapshots(snapshots)
				if err != nil {
					return nil, err
				}
				cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
				for i, d := range m.dataplanes {
					if err := cache.SetSnapshot(ctx, d.KRI(""), prepared[0][i]); err != nil {
						return nil, err
					}
				}
				return cache, nil
			}, func(made any) int {
				n := 0
				for _, d := range m.dataplanes {
					s, err := made.(cachev3.SnapshotCache).GetSnapshot(d.KRI(""))
					if err != nil {
						return -1
					}
					for t := range wire.Type(wire.NumTypes) {
						n += len(s.GetResources(t.URL()))
					}
				}
				return n
			}),
		},
	}, nil
}
