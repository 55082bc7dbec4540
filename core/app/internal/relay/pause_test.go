package relay_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The times in which a paused upstream is lost, and in which another one has taken its place:
// the ping, the pause before the next attempt, and an attempt at the paused one.
const (
	lostWithin  = 26 * time.Second
	movedWithin = 32 * time.Second
)

// An upstream is paused, as by SIGSTOP, and there is no other one: connections stay, and
// nothing passes. The relay serves what it holds, and /status has the loss and its age. When
// the upstream goes on, nothing that has not changed is sent again.
func TestPausedUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := startChain(t, relay.Options{})
		c.serveTwo()
		clients := c.asking(t, "prod", "test")
		envoy := c.relay.client(xdstest.Options{Node: node("a")})
		must(t, envoy.Wildcard(wire.ClusterType))
		synctest.Wait()
		pushes, bytes := c.relay.pushes(wire.ClusterType), c.relay.relay.Counters().Bytes.Load()

		c.at.Pause()
		time.Sleep(lostWithin)
		if s := c.relay.relay.Status(); s.Connected || s.Age < 1 {
			t.Errorf("%v after the pause, the status is %+v", lostWithin, s)
		}
		time.Sleep(time.Hour)
		if s := c.relay.relay.Status(); s.Connected || s.Age < 3600 || s.Age > 3630 {
			t.Errorf("an hour after the pause, the status is %+v", s)
		}
		late := c.asking(t, "test")[0]
		located(t, late, wire.ClusterType, forEnv("test", 0), web("test"))

		c.at.Resume()
		time.Sleep(time.Minute)
		if s := c.relay.relay.Status(); !s.Connected || s.Age != 0 {
			t.Errorf("after the pause, the status is %+v", s)
		}
		if got := c.relay.pushes(wire.ClusterType) - pushes; got != 1 {
			t.Errorf("the clients are sent %d responses, want only that of the new client", got)
		}
		if got := c.relay.relay.Counters().Bytes.Load() - bytes; got > 500 { // empty answers
			t.Errorf("the upstream sends %d bytes again", got)
		}
		for i, env := range []string{"prod", "test"} {
			located(t, clients[i], wire.ClusterType, forEnv(env, i), web(env))
		}
	})
}

// The first of two upstreams is paused: the second one serves soon, and sends nothing that has
// not changed.
func TestPausedFirstUpstream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t)
		p.edit(0)
		client := p.relay.client(xdstest.Options{})
		must(t, client.SubscribeLocators(wire.ClusterType, forEnv("prod", 0)))
		synctest.Wait()
		bytes := p.relay.relay.Counters().Bytes.Load()
		p.sites[0].Pause()
		time.Sleep(movedWithin)
		if s := p.relay.relay.Status(); !s.Connected || s.Address != "passthrough:second" {
			t.Errorf("%v after the pause, the status is %+v", movedWithin, s)
		}
		if got := p.relay.relay.Counters().Bytes.Load() - bytes; got > 200 {
			t.Errorf("the second upstream sends %d bytes", got)
		}
		p.edit(1)
		located(t, client, wire.ClusterType, forEnv("prod", 0), web("prod-1"))
	})
}

// TestRandomPauses pauses, kills and starts two upstreams of one source at random, and edits
// it, while clients hold variants and a node, and a model of each program follows one of its own. No
// client ever loses what it holds, or holds what the source never had. Soon after an upstream is there
// again, the clients hold its last state; if it goes on and nothing has changed, nothing is sent.
func TestRandomPauses(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				random := rand.New(rand.NewPCG(seed, 4))
				p := newPair(t)
				p.edit(0)
				var located1 []*xdstest.Client
				for _, env := range []string{"prod", "test", "prod"} {
					c := p.relay.client(xdstest.Options{StateOfTheWorld: random.IntN(2) == 0})
					must(t, c.SubscribeLocators(wire.ClusterType, forEnv(env, len(located1))))
					located1 = append(located1, c)
				}
				envoy := p.relay.client(xdstest.Options{Node: node("a")})
				must(t, envoy.Wildcard(wire.ClusterType))
				var models []*xdstest.Model
				for i, program := range xdstest.Programs() {
					m := xdstest.NewModel(program, pairNode(program), seed<<8|uint64(i), "web")
					must(t, m.Connect(p.relay.site.conn()))
					t.Cleanup(m.Close)
					models = append(models, m)
				}
				synctest.Wait()
				edits := 0
				check := func(exact bool) {
					t.Helper()
					for i, c := range located1 {
						env := []string{"prod", "test", "prod"}[i]
						held, ok := c.Located(wire.ClusterType, forEnv(env, i))
						if !ok || exact && held.Body != string(web(fmt.Sprintf("%s-%d", env, edits)).Body) || !p.served[held.Body] {
							t.Errorf("after %d edits a client holds %q, %v", edits, held.Body, ok)
						}
					}
					held, ok := envoy.Named(wire.ClusterType)["web"]
					if !ok || exact && held.Body != string(web(fmt.Sprintf("node-%d", edits)).Body) || !p.served[held.Body] {
						t.Errorf("after %d edits the node holds %q, %v", edits, held.Body, ok)
					}
					for _, m := range models {
						problems := m.Problems()
						if exact {
							problems = append(problems, m.Differences(p.source.State().Nodes[m.ID])...)
						}
						for _, of := range []wire.Type{wire.ListenerType, wire.RouteType, wire.ClusterType, wire.EndpointType} {
							if held := m.Held(of, "web"); held.Body == "" {
								problems = append(problems, fmt.Sprintf("it has no %s", of))
							}
						}
						for seen := range m.Seen() {
							if !p.served[seen.Body] {
								problems = append(problems, fmt.Sprintf("it has held %s %q", seen.Type, seen.Body))
							}
						}
						for _, problem := range problems {
							t.Errorf("after %d edits, %s: %s", edits, m.Program.Name, problem)
						}
					}
				}
				for range 80 {
					at := random.IntN(2)
					switch random.IntN(6) {
					case 0:
						p.sites[at].Pause()
					case 1:
						p.sites[at].Resume()
					case 2:
						p.kill(at)
					case 3:
						p.start(at)
					default:
						edits++
						p.edit(edits)
					}
					time.Sleep(time.Duration(random.IntN(40_000)) * time.Millisecond)
					synctest.Wait()
					check(false)
				}
				p.sites[0].Pause()
				p.sites[1].Pause()
				time.Sleep(lostWithin)
				if s := p.relay.relay.Status(); s.Connected || s.Age == 0 {
					t.Errorf("both upstreams are paused, and the status is %+v", s)
				}
				at := random.IntN(2)
				p.start(at)
				p.sites[at].Resume()
				time.Sleep(2 * time.Minute)
				check(true)
				bytes := p.relay.relay.Counters().Bytes.Load()
				p.sites[at].Pause()
				time.Sleep(time.Duration(random.IntN(100)) * time.Second)
				p.sites[at].Resume()
				time.Sleep(2 * time.Minute)
				check(true)
				// Each type of each node has an empty answer of 83 bytes, and the locators have one.
				if got := p.relay.relay.Counters().Bytes.Load() - bytes; got > 2800 {
					t.Errorf("the upstream sends %d bytes again", got)
				}
			})
		})
	}
}

// A pair is two upstreams of one source, and a relay behind them.
type pair struct {
	source  *xdstest.Source
	sites   [2]*site
	running [2]*running // nil: killed
	relay   *relayed
	served  map[string]bool // the contents that the source had
}

func newPair(t *testing.T) *pair {
	p := &pair{source: xdstest.NewSource(xdstest.NewState()), served: map[string]bool{}}
	var upstreams []relay.Upstream
	for i, name := range []string{"first", "second"} {
		p.sites[i] = newSite(t, name)
		p.start(i)
		upstreams = append(upstreams, p.sites[i].upstream())
	}
	p.relay = newSite(t, "relay").relay(relay.Options{Upstreams: upstreams})
	synctest.Wait()
	return p
}

func (p *pair) start(i int) {
	if p.running[i] == nil {
		p.running[i] = p.sites[i].serve(server.Options{Source: p.source})
	}
}

func (p *pair) kill(i int) {
	if p.running[i] != nil {
		p.running[i].stop()
		p.running[i] = nil
	}
}

// edit makes the source serve contents with a number.
func (p *pair) edit(number int) {
	p.source.Edit(func(s *xdstest.State) {
		prod, test, listed := web(fmt.Sprint("prod-", number)), web(fmt.Sprint("test-", number)), web(fmt.Sprint("node-", number))
		s.Variants[webKey] = []wire.Variant{xdstest.Variant(prod, equal("env", "prod")), xdstest.Variant(test, equal("env", "test"))}
		s.Nodes["a"] = xdstest.Snapshot(listed)
		all := []*wire.Resource{prod, test, listed}
		for _, program := range xdstest.Programs() {
			one := xdstest.OneService("web", fmt.Sprint(number), program.GRPC)
			s.Nodes[pairNode(program)] = one
			for _, of := range one {
				all = append(append(all, of.Listed...), of.Named...)
			}
		}
		for _, r := range all {
			p.served[string(r.Append(nil))] = true
		}
	})
	synctest.Wait()
}

// pairNode returns the node of a program.
func pairNode(p xdstest.Program) string { return "node of " + p.Name }

// A server of gRPC allows a ping in five minutes by default, and ends the connection of a
// client that sends more. The relay then sends fewer, so this happens once.
func TestRefusedPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams := &countedStreams{}
		at := newSite(t, "strict")
		g := grpc.NewServer()
		discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, streams)
		at.listen(g)
		t.Cleanup(g.Stop)
		r := newSite(t, "relay").relay(relay.Options{Upstreams: []relay.Upstream{at.upstream()}})
		time.Sleep(10 * time.Hour)
		if got := streams.begun; got != 2 {
			t.Errorf("in ten hours there are %d streams, want one, and one after the refusal", got)
		}
		at.Pause()
		time.Sleep(7 * time.Minute)
		if s := r.relay.Status(); s.Connected {
			t.Errorf("when the upstream is paused, the status is %+v", s)
		}
	})
}

// countedStreams counts streams, and answers nothing.
type countedStreams struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	begun int
}

func (s *countedStreams) DeltaAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	s.begun++
	<-stream.Context().Done()
	return nil
}
