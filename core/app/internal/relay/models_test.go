package relay_test

import (
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// TestModels has models of Envoys and gRPC clients that follow random edits at a server, at a
// relay, and at a relay behind the relay, and move between them. In the end each model holds what
// a new one would get, and has never held anything that its node never had (SPEC 12.3, 16).
func TestModels(t *testing.T) {
	xdstest.Seeds(t, 10, func(t *testing.T, seed uint64) {
		source := xdstest.NewSource(xdstest.NewState())
		var conns []grpc.ClientConnInterface
		for _, s := range serveAndRelay(t, server.Options{Source: source, Drain: -1}) {
			conns = append(conns, s.conn())
		}
		f := xdstest.NewFleet(t, seed, source, conns...)
		for range 60 {
			f.Step(t)
		}
		f.CheckConverged(t)
	})
}

// serveAndRelay returns a server, a relay with the same drain time, and a relay behind that one.
func serveAndRelay(t *testing.T, o server.Options) []*site {
	sites := []*site{newSite(t, "upstream"), newSite(t, "first"), newSite(t, "second")}
	sites[0].serve(o)
	for i, s := range sites[1:] {
		s.relay(relay.Options{Upstreams: []relay.Upstream{sites[i].upstream()}, Idle: time.Minute}, func(of *server.Options) { of.Drain = o.Drain })
	}
	return sites
}

// An Envoy that resumes in state of the world while its node waits is never sent an empty LDS or CDS, which
// would delete what it has: not by a relay either, to which the types of a node come one after the other
// when the node is there.
func TestWaitingWildcards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		snapshot := xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "c", "1"), xdstest.Resource(wire.EndpointType, "c", "1"), xdstest.Resource(wire.ListenerType, "l", "1"))
		full := xdstest.NewState()
		full.Nodes["n"] = snapshot
		before := newSite(t, "before")
		before.serve(server.Options{Source: xdstest.NewSource(full)})
		source := xdstest.NewSource(xdstest.NewState())
		sites := serveAndRelay(t, server.Options{Source: source})
		var clients []*xdstest.Client
		for _, s := range sites {
			options := xdstest.Options{Node: xdstest.NodeOf("n", 0), StateOfTheWorld: true}
			for _, conn := range []*grpc.ClientConn{before.conn(), s.conn()} {
				c, err := xdstest.New(t.Context(), conn, options)
				must(t, err)
				t.Cleanup(c.Close)
				if options.Resume == nil {
					for _, of := range []wire.Type{wire.ClusterType, wire.ListenerType} {
						must(t, c.Wildcard(of))
					}
					synctest.Wait()
					c.Close()
				} else {
					clients = append(clients, c)
				}
				options.Resume = c
			}
		}
		time.Sleep(20 * time.Second)
		source.Edit(func(s *xdstest.State) { s.Nodes["n"] = snapshot })
		time.Sleep(20 * time.Second)
		synctest.Wait()
		for i, c := range clients {
			got := 0
			for _, r := range c.Responses() {
				if r.Type != wire.ClusterType && r.Type != wire.ListenerType {
					continue
				}
				if got++; len(r.Resources) == 0 {
					t.Errorf("%s: an empty response of %s", sites[i].name, r.Type)
				}
			}
			if got < 2 {
				t.Errorf("%s: %d responses, want those of clusters and listeners", sites[i].name, got)
			}
		}
	})
}

// The names of a node that does not exist yet are unavailable, and not missing, at a server, at a relay
// and at a relay behind it (SPEC 12.2, 16), because clients of gRPC may drop what is missing. When the
// node is there, a name that it lacks is missing. No name is removed in between.
func TestWaitingNames(t *testing.T) {
	for _, state := range []bool{false, true} {
		for number, p := range xdstest.Programs() {
			synctest.Test(t, func(t *testing.T) {
				source := xdstest.NewSource(xdstest.NewState())
				sites := serveAndRelay(t, server.Options{Source: source})
				var clients []*xdstest.Client
				for _, s := range sites {
					c, err := xdstest.New(t.Context(), s.conn(), xdstest.Options{Node: xdstest.NodeOf("n", number), StateOfTheWorld: state})
					must(t, err)
					t.Cleanup(c.Close)
					must(t, c.Subscribe(wire.EndpointType, "a", "b"))
					clients = append(clients, c)
				}
				expect := func(name string, want codes.Code, body string) {
					t.Helper()
					time.Sleep(20 * time.Second) // of a node a relay waits 15 s
					synctest.Wait()
					for i, c := range clients {
						code, _ := c.Error(wire.EndpointType, name)
						if held := c.Named(wire.EndpointType)[name].Body; code != want || held != body {
							t.Errorf("%s, state of the world %v: at site %d, %s is %v and %q, want %v and %q", p.Name, state, i, name, code, held, want, body)
						}
					}
				}
				expect("a", codes.Unavailable, "")
				for i, c := range clients {
					for _, r := range c.Responses() {
						if len(r.Removed) > 0 {
							t.Errorf("%s: at site %d, %q is removed of a node that waits", p.Name, i, r.Removed)
						}
					}
				}
				a := xdstest.Resource(wire.EndpointType, "a", "1")
				source.Edit(func(s *xdstest.State) { s.Nodes["n"] = xdstest.Snapshot(a) })
				expect("a", codes.OK, string(a.Body))
				expect("b", codes.NotFound, "")
				source.Edit(func(s *xdstest.State) { s.Nodes["n"] = xdstest.Snapshot() })
				expect("a", codes.NotFound, "")
			})
		}
	}
}
