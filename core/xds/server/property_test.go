package server_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/server/xdstest"
)

// TestRandom edits states at random while clients of both protocols, by name and by
// locator, subscribe, reject, stop reading and reconnect at either of two replicas.
// At the end each client holds what the last state has, and nothing else.
func TestRandom(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, seed)
			for range 400 {
				w.step()
			}
			w.finish()
		})
	}
}

// world is a run of TestRandom.
type world struct {
	t        *testing.T
	rand     *rand.Rand
	source   *xdstest.Source
	replicas [2]*running
	clients  []*member
}

// member is a client and what it asks for.
type member struct {
	*xdstest.Client
	options  xdstest.Options
	node     string // empty without a node
	all      [xds.NumTypes]bool
	names    [xds.NumTypes]map[string]bool
	locators [xds.NumTypes]map[string]xdstest.Locator // by their text
	started  [xds.NumTypes]bool
	frozen   bool
}

var (
	worldNodes = []string{"n0", "n1", "n2", "n3"}
	worldNames = []string{"a", "b", "c", "d", "e", "f"}
)

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1))}
	state := xdstest.NewState()
	for _, n := range worldNodes {
		state.Nodes[n] = w.snapshot("good")
	}
	w.source = xdstest.NewSource(state)
	for i := range w.replicas {
		w.replicas[i] = start(t, server.Options{Source: w.source, Wait: 50 * time.Millisecond})
	}
	for i := range 12 {
		m := &member{}
		m.options.StateOfTheWorld = i%2 == 1
		if i%4 != 3 {
			m.node = worldNodes[w.rand.IntN(len(worldNodes))]
			m.options.Node = node(m.node)
		}
		m.options.Reject = func(r xdstest.Held) string {
			if strings.Contains(r.Body, "bad") {
				return "is bad"
			}
			return ""
		}
		for k := range m.names {
			m.names[k], m.locators[k] = map[string]bool{}, map[string]xdstest.Locator{}
		}
		w.connect(m)
		w.clients = append(w.clients, m)
	}
	t.Cleanup(func() {
		for _, m := range w.clients {
			m.Close()
		}
	})
	return w
}

// connect connects a member to one of the replicas.
func (w *world) connect(m *member) {
	c, err := xdstest.New(context.Background(), w.replicas[w.rand.IntN(2)].conn, m.options)
	must(w.t, err)
	m.Client, m.frozen = c, false
}

// snapshot returns random resources.
func (w *world) snapshot(quality string) *server.Snapshot {
	var listed, named []*xds.Resource
	for k := range xds.Type(xds.NumTypes) {
		for _, name := range worldNames {
			r := xdstest.Resource(k, name, w.content(quality))
			switch w.rand.IntN(6) {
			case 0, 1, 2:
				listed = append(listed, r)
			case 3:
				named = append(named, r)
			}
		}
	}
	return xdstest.WithNamed(xdstest.Snapshot(listed...), named...)
}

// content returns one of a few contents. If the quality is good, no client rejects it.
func (w *world) content(quality string) string {
	if quality != "good" && w.rand.IntN(8) == 0 {
		return "bad" + fmt.Sprint(w.rand.IntN(2))
	}
	return "good" + fmt.Sprint(w.rand.IntN(3))
}

// variants returns variants of a name that cover all parameters, or none.
func (w *world) variants(k xds.Type, name, quality string) []server.Variant {
	constraint := fmt.Sprintf(`{"constraint": {"key": "k", "value": "v%d"}}`, w.rand.IntN(2))
	resource := func() *xds.Resource { return xdstest.Resource(k, name, w.content(quality)) }
	switch w.rand.IntN(4) {
	case 0:
		return nil
	case 1:
		return []server.Variant{xdstest.Variant(resource(), "")}
	}
	return []server.Variant{
		xdstest.Variant(resource(), constraint),
		xdstest.Variant(resource(), `{"notConstraints": `+constraint+`}`),
	}
}

// step does one thing.
func (w *world) step() {
	m := w.clients[w.rand.IntN(len(w.clients))]
	switch w.rand.IntN(12) {
	case 0, 1, 2:
		w.source.Edit(func(s *xdstest.State) {
			s.Nodes[worldNodes[w.rand.IntN(len(worldNodes))]] = w.snapshot("")
		})
	case 3, 4:
		w.editVariants("")
	case 5:
		w.source.Edit(func(s *xdstest.State) { delete(s.Nodes, worldNodes[w.rand.IntN(len(worldNodes))]) })
	case 6:
		w.reconnect(m)
	case 7:
		if m.frozen = !m.frozen; m.frozen {
			m.Freeze()
		} else {
			m.Thaw()
		}
	case 8:
		time.Sleep(time.Duration(w.rand.IntN(3)) * time.Millisecond)
	default:
		w.subscribe(m)
	}
}

func (w *world) editVariants(quality string) {
	w.source.Edit(func(s *xdstest.State) {
		k, name := xds.Type(w.rand.IntN(xds.NumTypes)), worldNames[w.rand.IntN(len(worldNames))]
		s.Variants[xdstest.Name{Type: k, Name: name}] = w.variants(k, name, quality)
	})
}

// reconnect ends the stream of a member and resumes it at either replica.
func (w *world) reconnect(m *member) {
	m.Close()
	m.options.Resume = m.Client
	w.connect(m)
}

// subscribe changes a subscription of a member.
func (w *world) subscribe(m *member) {
	k := xds.Type(w.rand.IntN(xds.NumTypes))
	name := worldNames[w.rand.IntN(len(worldNames))]
	l := xdstest.Locator{Name: name, Parameters: map[string]string{"k": fmt.Sprintf("v%d", w.rand.IntN(3))}}
	// In state of the world, only listeners and clusters that go can be removed from a
	// wildcard.
	full := k == xds.ListenerType || k == xds.ClusterType
	first := !m.started[k]
	m.started[k] = true
	switch w.rand.IntN(6) {
	case 0:
		if first && (full || !m.options.StateOfTheWorld) {
			m.all[k] = true
			must(w.t, m.Wildcard(k))
			return
		}
		if m.names[k][name] {
			delete(m.names[k], name)
			must(w.t, m.Unsubscribe(k, name))
			return
		}
	case 1:
		if _, ok := m.locators[k][fmt.Sprint(l)]; ok {
			delete(m.locators[k], fmt.Sprint(l))
			must(w.t, m.UnsubscribeLocators(k, l))
			return
		}
	case 2, 3:
		m.locators[k][fmt.Sprint(l)] = l
		must(w.t, m.SubscribeLocators(k, l))
		return
	}
	m.names[k][name] = true
	must(w.t, m.Subscribe(k, name))
}

// finish publishes a last state that no client rejects, and compares.
func (w *world) finish() {
	w.source.Edit(func(s *xdstest.State) {
		for _, n := range worldNodes {
			s.Nodes[n] = w.snapshot("good")
		}
		for k := range xds.Type(xds.NumTypes) {
			for _, name := range worldNames {
				s.Variants[xdstest.Name{Type: k, Name: name}] = w.variants(k, name, "good")
			}
		}
	})
	for i, m := range w.clients {
		m.Thaw()
		m.Wait(patience, func() bool { return len(w.differences(m)) == 0 })
		for _, d := range w.differences(m) {
			w.t.Errorf("client %d (%s, node %q): %s", i, protocolName(m), m.node, d)
		}
		if err := m.Err(); err != nil {
			w.t.Errorf("client %d: %v", i, err)
		}
	}
	ids := slices.DeleteFunc(slices.Clone(worldNodes), func(id string) bool {
		return !slices.ContainsFunc(w.clients, func(m *member) bool { return m.node == id && slices.Contains(m.started[:], true) })
	})
	for _, r := range w.replicas {
		for _, id := range ids {
			if r.NodeState(id) == server.Absent {
				continue
			}
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			if _, err := r.WaitConverged(ctx, []string{id}); err != nil {
				w.t.Errorf("%s does not converge: %+v", id, r.Status(id))
			}
			cancel()
		}
	}
}

func protocolName(m *member) string {
	if m.options.StateOfTheWorld {
		return "sotw"
	}
	return "delta"
}

// differences compares what a member holds with what the last state has for it.
func (w *world) differences(m *member) []string {
	var out []string
	state := w.source.State()
	for k := range xds.Type(xds.NumTypes) {
		if !m.started[k] {
			continue
		}
		want := map[string]string{}
		if m.node != "" {
			rs := state.Nodes[m.node][k]
			for _, r := range rs.Listed {
				if m.all[k] || m.names[k][r.Name] {
					want[r.Name] = string(r.Body)
				}
			}
			for _, r := range rs.Named {
				if m.names[k][r.Name] {
					want[r.Name] = string(r.Body)
				}
			}
		}
		if got := contents(m.Client, k); !maps.Equal(got, want) {
			out = append(out, fmt.Sprintf("%s: holds %q, wants %q", k, got, want))
		}
		for _, l := range m.locators[k] {
			v, _ := state.Locate(k, l.Name, l.Parameters)
			got, _ := m.Located(k, l)
			want := ""
			if v.Resource != nil {
				want = string(v.Resource.Body)
			}
			if got.Body != want || got.Constraints != v.Constraints {
				out = append(out, fmt.Sprintf("%s: locator %v: holds %q, wants %q", k, l, got.Body, want))
			}
		}
	}
	return out
}
