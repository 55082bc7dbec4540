package server_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"google.golang.org/grpc"
)

// TestRandom edits states at random while clients of both protocols, by name and by
// locator, subscribe, reject, stop reading and reconnect at either of two replicas, beside
// hostile ones. At the end each client that is not hostile holds what the last state has,
// and nothing else, while the others go on.
func TestRandom(t *testing.T) {
	xdstest.Seeds(t, 8, func(t *testing.T, seed uint64) {
		w := newWorld(t, seed)
		for range 400 {
			w.step()
		}
		w.finish()
	})
}

// world is a run of TestRandom.
type world struct {
	t        *testing.T
	rand     *rand.Rand
	source   *xdstest.Source
	replicas [2]*running
	clients  []*xdstest.Actor
	hostile  []*xdstest.Hostile
	rarely   bool // nodes often are no dataplanes
}

var (
	worldNodes = []string{"n0", "n1", "n2", "n3"}
	worldNames = []string{"a", "b", "c", "d", "e", "f"}
	// hostileNode is the node of hostile clients: they may not converge.
	hostileNode = "h"
)

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), rarely: seed%2 == 1}
	state := xdstest.NewState()
	for _, n := range worldNodes {
		state.Nodes[n] = w.snapshot("good")
	}
	state.Nodes[hostileNode] = w.snapshot("")
	w.source = xdstest.NewSource(state)
	for i := range w.replicas {
		w.replicas[i] = start(t, server.Options{Source: w.source, Wait: 50 * time.Millisecond, Drain: 200 * time.Millisecond, MaxSubscriptions: 1500, MaxSubscriptionBytes: 200_000})
	}
	for i := range 12 {
		options := xdstest.Options{StateOfTheWorld: i%2 == 1, Reject: func(r xdstest.Held) string {
			if strings.Contains(r.Body, "bad") {
				return "is bad"
			}
			return ""
		}}
		if i%4 != 3 {
			options.Node = xdstest.NodeOf(worldNodes[w.rand.IntN(len(worldNodes))], w.rand.Int())
		}
		c, err := xdstest.NewActor(w.replica(), options)
		must(t, err)
		w.clients = append(w.clients, c)
	}
	for i := range 4 {
		n := node(hostileNode)
		if i > 1 {
			n = nil
		}
		w.hostile = append(w.hostile, xdstest.NewHostile(w.replicas[i%2].dial(t), w.rand.IntN(2) == 0, n))
	}
	t.Cleanup(func() {
		for _, c := range w.clients {
			c.Close()
		}
		for _, h := range w.hostile {
			h.Close()
		}
	})
	return w
}

// replica returns a connection to one of the replicas.
func (w *world) replica() *grpc.ClientConn { return w.replicas[w.rand.IntN(2)].conn }

// snapshot returns random resources.
func (w *world) snapshot(quality string) *wire.Snapshot {
	return xdstest.RandomSnapshot(w.rand, worldNames, func() string { return w.content(quality) })
}

// content returns one of a few contents. If the quality is good, no client rejects it.
func (w *world) content(quality string) string {
	if quality != "good" && w.rand.IntN(8) == 0 {
		return "bad" + fmt.Sprint(w.rand.IntN(2))
	}
	return "good" + fmt.Sprint(w.rand.IntN(3))
}

// variants returns variants of a name that cover all parameters, or none.
func (w *world) variants(k wire.Type, name, quality string) []wire.Variant {
	constraint := fmt.Sprintf(`{"constraint": {"key": "k", "value": "v%d"}}`, w.rand.IntN(2))
	resource := func() *wire.Resource { return xdstest.Resource(k, name, w.content(quality)) }
	switch w.rand.IntN(4) {
	case 0:
		return nil
	case 1:
		return []wire.Variant{xdstest.Variant(resource(), "")}
	}
	return []wire.Variant{
		xdstest.Variant(resource(), constraint),
		xdstest.Variant(resource(), `{"notConstraints": `+constraint+`}`),
	}
}

// step does one thing.
func (w *world) step() {
	c := w.clients[w.rand.IntN(len(w.clients))]
	switch w.rand.IntN(14) {
	case 0, 1, 2:
		w.source.Edit(func(s *xdstest.State) {
			n := worldNodes[w.rand.IntN(len(worldNodes))]
			if s.Nodes[n] == nil || !w.rarely || w.rand.IntN(2) == 0 {
				s.Nodes[n] = w.snapshot("")
			} else {
				delete(s.Nodes, n)
			}
		})
	case 3, 4:
		w.editVariants("")
	case 5:
		w.source.Edit(func(s *xdstest.State) { delete(s.Nodes, worldNodes[w.rand.IntN(len(worldNodes))]) })
	case 6:
		must(w.t, c.Reconnect(w.replica()))
		if w.rand.IntN(2) == 0 {
			c.FreezeOrThaw() // before it has an answer
		}
	case 7:
		c.FreezeOrThaw()
	case 8:
		time.Sleep(time.Duration(w.rand.IntN(100)) * time.Millisecond)
	case 9, 10:
		w.hostile[w.rand.IntN(len(w.hostile))].Act(w.rand, worldNames[w.rand.IntN(len(worldNames))])
	default:
		t, name := wire.Type(w.rand.IntN(wire.NumTypes)), worldNames[w.rand.IntN(len(worldNames))]
		must(w.t, c.Ask(w.rand, t, name, map[string]string{"k": fmt.Sprintf("v%d", w.rand.IntN(3))}))
	}
}

func (w *world) editVariants(quality string) {
	w.source.Edit(func(s *xdstest.State) {
		k, name := wire.Type(w.rand.IntN(wire.NumTypes)), worldNames[w.rand.IntN(len(worldNames))]
		s.Variants[xdstest.Name{Type: k, Name: name}] = w.variants(k, name, quality)
	})
}

// finish publishes a last state that no client rejects, and compares. What no client
// rejects stays as it was, so that only what clients have lost is missing.
func (w *world) finish() {
	w.source.Edit(func(s *xdstest.State) {
		for _, n := range worldNodes {
			if snapshot := s.Nodes[n]; snapshot == nil || slices.ContainsFunc(snapshot[:], isRejected) {
				s.Nodes[n] = w.snapshot("good")
			}
		}
		for name, variants := range s.Variants {
			if slices.ContainsFunc(variants, func(v wire.Variant) bool { return strings.Contains(string(v.Resource.Body), "bad") }) {
				s.Variants[name] = w.variants(name.Type, name.Name, "good")
			}
		}
	})
	state := w.source.State()
	for _, h := range w.hostile {
		h.Act(w.rand, worldNames[0])
	}
	for i, c := range w.clients {
		c.Thaw()
		time.Sleep(time.Second) // more than Options.Wait, and than a hostile client's stream
		synctest.Wait()
		for _, d := range c.Differences(state) {
			w.t.Errorf("client %d (%s): %s; its last messages:\n%s", i, c, d, c.Recent())
		}
		if err := c.Err(); err != nil {
			w.t.Errorf("client %d: %v", i, err)
		}
	}
	ids := slices.DeleteFunc(slices.Clone(worldNodes), func(id string) bool {
		return !slices.ContainsFunc(w.clients, func(c *xdstest.Actor) bool { return c.Node.ID == id && c.Asked() })
	})
	for _, r := range w.replicas {
		for _, id := range ids {
			if r.NodeState(id) == server.Absent {
				continue
			}
			ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
			if _, err := r.WaitConverged(ctx, []string{id}); err != nil {
				w.t.Errorf("%s does not converge: %+v", id, r.Status(id))
			}
			cancel()
		}
	}
}

// isRejected reports whether the clients reject a resource.
func isRejected(r wire.Resources) bool {
	return slices.ContainsFunc(slices.Concat(r.Listed, r.Named), func(r *wire.Resource) bool {
		return strings.Contains(string(r.Body), "bad")
	})
}
