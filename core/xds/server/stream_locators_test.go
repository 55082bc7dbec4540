package server_test

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// countedSource is a source of states that record which names they are asked by locator.
type countedSource struct {
	*xdstest.Source
	mu    sync.Mutex
	asked map[string]int
}

func (c *countedSource) Current() (server.State, <-chan struct{}) {
	state, changed := c.Source.Current()
	return countedAnswers{state.(*xdstest.State), c}, changed
}

type countedAnswers struct {
	*xdstest.State
	to *countedSource
}

func (s countedAnswers) Locate(n *server.Node, t wire.Type, name string, parameters map[string]string) (wire.Variant, bool) {
	s.to.mu.Lock()
	s.to.asked[name]++
	s.to.mu.Unlock()
	return s.State.Locate(n, t, name, parameters)
}

func (s countedAnswers) Relocated(n *server.Node, before server.State) ([]string, bool) {
	return s.State.Relocated(n, before.(countedAnswers).State)
}

// take returns the names that were asked since the last call, with their numbers.
func (c *countedSource) take() map[string]int {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	asked := c.asked
	c.asked = map[string]int{}
	return asked
}

// After a change, a state is asked only about the locators that the change can reach.
func TestChangeReachesLocators(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		variant := func(name, content string) []wire.Variant {
			return []wire.Variant{xdstest.Variant(xdstest.Resource(wire.ClusterType, name, content), "")}
		}
		state := xdstest.NewState()
		var locators []xdstest.Locator
		for i := range 20 {
			name := fmt.Sprintf("name-%02d", i)
			state.Variants[xdstest.Name{Type: wire.ClusterType, Name: name}] = variant(name, "1")
			locators = append(locators, xdstest.Locator{Name: name, Parameters: map[string]string{"app": "n"}})
		}
		locators = append(locators, xdstest.Locator{Name: "later", Parameters: map[string]string{"app": "n"}})
		source := &countedSource{Source: xdstest.NewSource(state), asked: map[string]int{}}
		r := start(t, server.Options{Source: source})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, c.SubscribeLocators(wire.ClusterType, locators...))
		if asked := source.take(); len(asked) != len(locators) {
			t.Fatalf("at first %d names are asked, of %d", len(asked), len(locators))
		}
		for _, edit := range []struct {
			name string
			make func(*xdstest.State)
			want []string
		}{
			{"a node", func(s *xdstest.State) { s.Nodes["other"] = xdstest.Snapshot() }, nil},
			{"two names", func(s *xdstest.State) {
				s.Variants[xdstest.Name{Type: wire.ClusterType, Name: "name-03"}] = variant("name-03", "2")
				delete(s.Variants, xdstest.Name{Type: wire.ClusterType, Name: "name-19"})
			}, []string{"name-03", "name-19"}},
			{"a new name", func(s *xdstest.State) {
				s.Variants[xdstest.Name{Type: wire.ClusterType, Name: "later"}] = variant("later", "1")
			}, []string{"later"}},
			{"a name that nobody asks for", func(s *xdstest.State) {
				s.Variants[xdstest.Name{Type: wire.ClusterType, Name: "name-021"}] = variant("name-021", "1")
			}, nil},
		} {
			source.Edit(edit.make)
			if asked := slices.Sorted(maps.Keys(source.take())); !slices.Equal(asked, edit.want) {
				t.Errorf("%s: %v are asked, want %v", edit.name, asked, edit.want)
			}
		}
		if v, ok := c.Located(wire.ClusterType, locators[3]); !ok || v.Body != string(xdstest.Resource(wire.ClusterType, "name-03", "2").Append(nil)) {
			t.Errorf("the client holds %+v", v)
		}
		if _, ok := c.Located(wire.ClusterType, locators[20]); !ok {
			t.Error("the client does not hold the new name")
		}
	})
}

// byNodes allows the parameters {app: NAME} if the state has the node NAME.
type byNodes struct{ ownOnly }

func (byNodes) Parameters(state server.State, _ *server.Client, parameters map[string]string) bool {
	_, ok := state.Node(&server.Node{ID: parameters["app"]})
	return ok
}

// Decisions about locators follow the state, whether or not a change reaches their names.
func TestAccessToLocatorsFollowsState(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		web := xdstest.Name{Type: wire.ClusterType, Name: "web"}
		state := xdstest.NewState()
		state.Variants[web] = []wire.Variant{xdstest.Variant(xdstest.Resource(wire.ClusterType, "web", "1"), "")}
		r := start(t, server.Options{Source: xdstest.NewSource(state), Access: byNodes{}})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw})
		own := xdstest.Locator{Name: "web", Parameters: map[string]string{"app": "n"}}
		must(t, c.SubscribeLocators(wire.ClusterType, own))
		for i := range 4 {
			_, has := c.Located(wire.ClusterType, own)
			if !settles(func() bool { _, has = c.Located(wire.ClusterType, own); return has == (i%2 == 1) }) {
				t.Fatalf("step %d: the client has the variant: %t", i, has)
			}
			if code, _ := c.Error(wire.ClusterType, "web"); i%2 == 0 && code != codes.PermissionDenied {
				t.Errorf("step %d: the error is %v", i, code)
			}
			r.source.Edit(func(s *xdstest.State) {
				if i%2 == 0 {
					s.Nodes["n"] = xdstest.Snapshot()
				} else {
					delete(s.Nodes, "n")
				}
			})
		}
	})
}
