package relay_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// askedRelay is a relay that counts for which nodes its states are asked.
type askedRelay struct {
	*relay.Relay
	mu     sync.Mutex
	asked  map[string]int
	states map[*relay.State]bool
}

func (a *askedRelay) Current() (server.State, <-chan struct{}) {
	state, superseded := a.Relay.Current()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.states[state.(*relay.State)] = true
	return askedState{state.(*relay.State), a}, superseded
}

func (a *askedRelay) count(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked[id]++
}

// take returns how often nodes were asked for since the last call, and in how many states.
func (a *askedRelay) take() (asked map[string]int, states int) {
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	asked, states = a.asked, len(a.states)
	a.asked, a.states = map[string]int{}, map[*relay.State]bool{}
	return asked, states
}

type askedState struct {
	*relay.State
	to *askedRelay
}

func (s askedState) AnswerNode(client *server.Client, n *server.Node) (*wire.Snapshot, server.Verdict) {
	s.to.count(n.ID)
	return s.State.AnswerNode(client, n)
}

func (s askedState) AnswerName(client *server.Client, n *server.Node, t wire.Type, name string, p server.Parameters) (*wire.Resource, server.Verdict) {
	s.to.count(n.ID)
	return s.State.AnswerName(client, n, t, name, p)
}

func (s askedState) Keeps(n *server.Node, before server.State) bool {
	return s.State.Keeps(n, before.(askedState).State)
}

// A state of a relay is asked only for nodes whose answers changed. So the work of connecting many
// nodes is in proportion to them, although the answers of each are a state.
func TestRelayAsksForChangedNodes(t *testing.T) {
	const nodes, most = 100, 10 // the most that one node is asked for
	for _, mode := range []relay.Mode{relay.Locators, relay.Nodes} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked *askedRelay
				c := startChain(t, relay.Options{Mode: mode}, func(o *server.Options) {
					asked = &askedRelay{Relay: o.Source.(*relay.Relay), asked: map[string]int{}, states: map[*relay.State]bool{}}
					o.Source = asked
				})
				content := func(i int, text string) *wire.Snapshot {
					return xdstest.Snapshot(web(text), xdstest.Resource(wire.EndpointType, "web", fmt.Sprint(i)))
				}
				c.edit(func(s *xdstest.State) {
					for i := range nodes {
						s.Nodes[fmt.Sprint(i)] = content(i, "1")
					}
				})
				clients := make([]*xdstest.Client, nodes)
				for i := range clients {
					clients[i] = c.relay.client(xdstest.Options{Node: node(fmt.Sprint(i)), StateOfTheWorld: i%2 == 1})
					must(t, clients[i].Wildcard(wire.ClusterType))
					must(t, clients[i].Subscribe(wire.EndpointType, "web"))
					synctest.Wait()
				}
				got, states := asked.take()
				if states < nodes {
					t.Errorf("%d nodes have %d states", nodes, states)
				}
				for id, n := range got {
					if n > most {
						t.Errorf("while %d nodes connect, node %s is asked for %d times in %d states", nodes, id, n, states)
					}
				}
				for _, edit := range []struct {
					name string
					make func(*xdstest.State)
					want []string
				}{
					{"one node", func(s *xdstest.State) { s.Nodes["7"] = content(7, "2") }, []string{"7"}},
					{"two nodes", func(s *xdstest.State) { s.Nodes["8"], s.Nodes["9"] = content(8, "2"), content(9, "2") }, []string{"8", "9"}},
					{"a node goes", func(s *xdstest.State) { delete(s.Nodes, "7") }, []string{"7"}},
					{"a node comes back", func(s *xdstest.State) { s.Nodes["7"] = content(7, "3") }, []string{"7"}},
				} {
					c.edit(edit.make)
					got, _ := asked.take()
					if ids := slices.Sorted(maps.Keys(got)); !slices.Equal(ids, edit.want) {
						t.Errorf("%s: %d nodes are asked for, want %v", edit.name, len(ids), edit.want)
					}
				}
				for i, text := range map[int]string{0: "1", 7: "3", 8: "2", 9: "2"} {
					if held := clients[i].Named(wire.ClusterType)["web"]; held.Body != string(web(text).Append(nil)) {
						t.Errorf("the client of node %d holds %q, want content %s", i, held.Body, text)
					}
				}
			})
		})
	}
}
