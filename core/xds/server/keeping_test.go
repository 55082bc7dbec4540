package server_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// askedSource is a source of states that record for which nodes they are asked.
type askedSource struct {
	*xdstest.Source
	mu    sync.Mutex
	asked map[string]int // by Node
	kept  map[string]int // by Keeps, which kept it
}

func (a *askedSource) Current() (server.State, <-chan struct{}) {
	state, changed := a.Source.Current()
	return askedNodes{state.(*xdstest.State), a}, changed
}

type askedNodes struct {
	*xdstest.State
	to *askedSource
}

func (s askedNodes) Node(n *server.Node) (*wire.Snapshot, bool) {
	s.to.mu.Lock()
	s.to.asked[n.ID]++
	s.to.mu.Unlock()
	return s.State.Node(n)
}

func (s askedNodes) Keeps(n *server.Node, before server.State) bool {
	keeps := s.State.Keeps(n, before.(askedNodes).State)
	s.to.mu.Lock()
	defer s.to.mu.Unlock()
	if keeps {
		s.to.kept[n.ID]++
	}
	return keeps
}

// take returns the nodes that were asked for since the last call.
func (a *askedSource) take() []string {
	synctest.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	defer clear(a.kept)
	defer clear(a.asked)
	return slices.Sorted(maps.Keys(a.asked))
}

// After a change, a state is asked only for the nodes that it does not keep.
func TestChangeReachesNodes(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		content := func(text string) *wire.Snapshot {
			return xdstest.Snapshot(xdstest.Resource(wire.ClusterType, "c", text))
		}
		state := xdstest.NewState()
		var all []string
		for i := range 5 {
			all = append(all, fmt.Sprint("n", i))
			state.Nodes[all[i]] = content("1")
		}
		source := &askedSource{Source: xdstest.NewSource(state), asked: map[string]int{}, kept: map[string]int{}}
		r := start(t, server.Options{Source: source})
		clients := map[string]*xdstest.Client{}
		for _, id := range append(all, "later") {
			clients[id] = r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node(id)})
			must(t, clients[id].Wildcard(wire.ClusterType))
		}
		source.take()
		for _, edit := range []struct {
			name string
			make func(*xdstest.State)
			want []string // besides the node that is not there
		}{
			{"nothing", func(*xdstest.State) {}, nil},
			{"one of them", func(s *xdstest.State) { s.Nodes["n3"] = content("2") }, []string{"n3"}},
			{"one that is removed", func(s *xdstest.State) { delete(s.Nodes, "n2") }, []string{"n2"}},
			{"the one that comes later", func(s *xdstest.State) { s.Nodes["later"] = content("1") }, []string{"n2"}},
			{"one that comes back", func(s *xdstest.State) { s.Nodes["n2"] = content("3") }, []string{"n2"}},
		} {
			source.Edit(edit.make)
			synctest.Wait()
			for id, n := range source.kept {
				if n > 1 {
					t.Errorf("%s: asked %d times whether it keeps %s", edit.name, n, id)
				}
			}
			asked := slices.DeleteFunc(source.take(), func(id string) bool { return id == "later" })
			if !slices.Equal(asked, edit.want) {
				t.Errorf("%s: asked for %v, want %v", edit.name, asked, edit.want)
			}
		}
		for id, text := range map[string]string{"n0": "1", "n2": "3", "n3": "2", "later": "1"} {
			if got := clients[id].Named(wire.ClusterType)["c"].Body; got != string(xdstest.Resource(wire.ClusterType, "c", text).Append(nil)) {
				t.Errorf("%s holds %q, want content %s", id, got, text)
			}
		}
	})
}

// orderedState notes in which order a change comes to streams: asked by Node, and the others
// when their locators are looked at.
type orderedState struct {
	*xdstest.State
	to *orderedSource
}

type orderedSource struct {
	*xdstest.Source
	mu    sync.Mutex
	order []string
}

func (o *orderedSource) Current() (server.State, <-chan struct{}) {
	state, changed := o.Source.Current()
	return orderedState{state.(*xdstest.State), o}, changed
}

func (s orderedState) note(id string) {
	s.to.mu.Lock()
	defer s.to.mu.Unlock()
	s.to.order = append(s.to.order, id)
}

func (s orderedState) Node(n *server.Node) (*wire.Snapshot, bool) {
	s.note(n.ID)
	return s.State.Node(n)
}

func (s orderedState) Keeps(n *server.Node, before server.State) bool {
	return s.State.Keeps(n, before.(orderedState).State)
}

func (s orderedState) Relocated(n *server.Node, before server.State) ([]string, bool) {
	s.note(n.ID)
	return s.State.Relocated(n, before.(orderedState).State)
}

// The nodes that a change reaches come before those that it does not reach, in whatever order
// they have connected. One runner makes the pass, so that there is an order.
func TestReachedNodesComeFirst(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		state := xdstest.NewState()
		name := xdstest.Name{Type: wire.ClusterType, Name: "located"}
		state.Variants[name] = []wire.Variant{xdstest.Variant(xdstest.Resource(wire.ClusterType, "located", "1"), "")}
		var all []string
		for i := range 10 {
			all = append(all, fmt.Sprint("n", i))
			state.Nodes[all[i]] = xdstest.Snapshot(xdstest.Resource(wire.EndpointType, "e", "1"))
		}
		source := &orderedSource{Source: xdstest.NewSource(state)}
		r := start(t, server.Options{Source: source})
		for _, id := range all {
			c := r.client(t, xdstest.Options{Node: node(id)})
			must(t, c.SubscribeLocators(wire.ClusterType, xdstest.Locator{Name: "located", Parameters: map[string]string{"app": "n"}}))
			must(t, c.Subscribe(wire.EndpointType, "e"))
		}
		for _, reached := range []string{"n0", "n5", "n9"} {
			synctest.Wait()
			source.order = nil
			source.Edit(func(s *xdstest.State) {
				s.Nodes[reached] = xdstest.Snapshot(xdstest.Resource(wire.EndpointType, "e", "2"))
			})
			synctest.Wait()
			if len(source.order) < len(all) || source.order[0] != reached {
				t.Errorf("%s is reached, and the order is %v", reached, source.order)
			}
		}
	})
}
