package relay_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// TestRandom edits what an upstream serves, and kills, starts and pauses the upstream and
// two relays in a row, while clients of both protocols, by name and by locator, subscribe,
// reject, stop reading and reconnect at either relay. The model is what a client of the
// upstream itself holds: at the end each client holds what the last state has for it, and
// nothing else.
//
// In between, each content that a client holds must be one that some state had for its
// question (served): a relay may be late, and never makes anything up.
func TestRandom(t *testing.T) {
	xdstest.Seeds(t, 20, func(t *testing.T, seed uint64) {
		w := newWorld(t, seed)
		for range 300 {
			w.step()
		}
		w.finish()
	})
}

// world is a run of TestRandom.
type world struct {
	t       *testing.T
	rand    *rand.Rand
	source  *xdstest.Source
	sites   [3]*site    // of the upstream and the relays
	running [3]*running // nil: killed
	paused  [3]bool
	mode    relay.Mode
	relays  [3]*relay.Relay
	states  [3]string // directories
	clients []*xdstest.Actor
	at      []int           // the site of each client
	served  map[string]bool // all contents that were served, by node or locator
	conns   [3]*grpc.ClientConn
}

var worldNames = []string{"a", "b", "c", "d", "inbound/e", "f"}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rand: rand.New(rand.NewPCG(seed, 1)), served: map[string]bool{}}
	w.source = xdstest.NewSource(xdstest.NewState())
	if seed%4 == 3 {
		w.mode = relay.Nodes // then there are no variants
	}
	for i := range w.sites {
		w.sites[i] = newSite(t, fmt.Sprint("site", i))
		if i > 0 && w.rand.IntN(2) == 0 {
			w.states[i] = t.TempDir()
		}
		w.start(i)
		w.conns[i] = w.sites[i].conn()
	}
	for i := range 10 {
		options := xdstest.Options{StateOfTheWorld: i%2 == 1, Reject: func(r xdstest.Held) string {
			if strings.Contains(r.Body, "bad") {
				return "is bad"
			}
			return ""
		}}
		if i%4 != 3 {
			options.Node = xdstest.NodeOf(w.nodeOf(i), w.rand.Int())
		}
		at := 1 + w.rand.IntN(2)
		c, err := xdstest.NewActor(w.conns[at], options)
		must(t, err)
		w.clients, w.at = append(w.clients, c), append(w.at, at)
	}
	w.editNodes("good")
	t.Cleanup(func() {
		for _, c := range w.clients {
			c.Close()
		}
	})
	return w
}

// nodeOf returns the node of a client. Each has its own.
func (w *world) nodeOf(client int) string { return fmt.Sprint("n", client) }

// start starts the upstream or a relay.
func (w *world) start(i int) {
	if w.running[i] != nil {
		return
	}
	if i == 0 {
		w.running[0] = w.sites[0].serve(server.Options{Source: w.source, Wait: 50 * time.Millisecond, Drain: 10 * time.Second})
		return
	}
	r := w.sites[i].relay(relay.Options{Upstreams: []relay.Upstream{w.sites[i-1].upstream()}, State: w.states[i], Idle: time.Minute, Mode: w.mode},
		func(o *server.Options) { o.Wait, o.Keep, o.Drain = 50*time.Millisecond, time.Minute, 10*time.Second })
	w.running[i], w.relays[i] = r.running, r.relay
}

// kill ends the upstream or a relay. A relay that crashes has the file of a few seconds ago.
func (w *world) kill(i int) {
	if w.running[i] == nil {
		return
	}
	path := filepath.Join(w.states[i], "relay-cache")
	before, err := os.ReadFile(path)
	w.running[i].stop()
	w.running[i] = nil
	if w.states[i] == "" || w.rand.IntN(2) == 0 {
		return
	}
	if err != nil {
		must(w.t, os.RemoveAll(path))
	} else {
		must(w.t, os.WriteFile(path, before, 0o600))
	}
}

// pause pauses a site, or lets it go on.
func (w *world) pause(i int, paused bool) {
	if w.paused[i] = paused; paused {
		w.sites[i].Pause()
	} else {
		w.sites[i].Resume()
	}
}

// edit changes what the upstream serves.
func (w *world) edit(change func(*xdstest.State)) {
	w.source.Edit(change)
	state := w.source.State()
	for id, snapshot := range state.Nodes {
		for _, of := range snapshot {
			for _, r := range slices.Concat(of.Listed, of.Named) {
				w.served[id+" "+string(r.Append(nil))] = true
			}
		}
	}
	for _, variants := range state.Variants {
		for _, v := range variants {
			w.served[v.Constraints+" "+string(v.Resource.Append(nil))] = true
		}
	}
}

func (w *world) editNodes(quality string) {
	w.edit(func(s *xdstest.State) {
		for i := range w.clients {
			s.Nodes[w.nodeOf(i)] = w.snapshot(quality)
		}
	})
}

// snapshot returns random resources.
func (w *world) snapshot(quality string) *wire.Snapshot {
	return xdstest.RandomSnapshot(w.rand, worldNames, func() string { return w.content(quality) })
}

func (w *world) content(quality string) string {
	if quality != "good" && w.rand.IntN(8) == 0 {
		return "bad" + fmt.Sprint(w.rand.IntN(2))
	}
	return "good" + fmt.Sprint(w.rand.IntN(5))
}

// variants returns variants of a name: none, one for all, two or three, or two that do not
// cover all parameters.
func (w *world) variants(k wire.Type, name, quality string) []wire.Variant {
	is := func(v int) string { return fmt.Sprintf(`{"constraint": {"key": "k", "value": "v%d"}}`, v) }
	not := func(c string) string { return `{"notConstraints": ` + c + `}` }
	and := func(a, b string) string { return fmt.Sprintf(`{"andConstraints": {"constraints": [%s, %s]}}`, a, b) }
	variant := func(c string) wire.Variant {
		return xdstest.Variant(xdstest.Resource(k, name, w.content(quality)), c)
	}
	switch w.rand.IntN(6) {
	case 0:
		return nil
	case 1:
		return []wire.Variant{variant("")}
	case 2:
		return []wire.Variant{variant(is(0)), variant(is(1))}
	case 3:
		return []wire.Variant{variant(is(0)), variant(is(1)), variant(and(not(is(0)), not(is(1))))}
	}
	c := is(w.rand.IntN(2))
	return []wire.Variant{variant(c), variant(not(c))}
}

// step does one thing.
func (w *world) step() {
	i := w.rand.IntN(len(w.clients))
	c := w.clients[i]
	switch w.rand.IntN(22) {
	case 0, 1:
		w.edit(func(s *xdstest.State) { s.Nodes[w.nodeOf(i)] = w.snapshot("") })
	case 2, 3, 4:
		if w.mode == relay.Nodes {
			return
		}
		w.edit(func(s *xdstest.State) {
			k, name := wire.Type(w.rand.IntN(wire.NumTypes)), worldNames[w.rand.IntN(len(worldNames))]
			s.Variants[xdstest.Name{Type: k, Name: name}] = w.variants(k, name, "")
		})
	case 5:
		w.edit(func(s *xdstest.State) { delete(s.Nodes, w.nodeOf(i)) })
	case 6:
		if at := 1 + w.rand.IntN(2); w.running[at] != nil && !w.paused[at] {
			w.at[i] = at
			w.reconnect(i)
		}
	case 7:
		c.FreezeOrThaw()
	case 8, 9:
		time.Sleep(time.Duration(w.rand.IntN(1000)) * time.Millisecond)
	case 10:
		time.Sleep(time.Duration(w.rand.IntN(100)) * time.Second)
	case 11:
		w.kill(w.rand.IntN(3))
	case 12, 13:
		w.start(w.rand.IntN(3))
	case 14, 15:
		if at := w.rand.IntN(3); w.paused[at] || w.rand.IntN(2) == 0 {
			w.pause(at, !w.paused[at])
		}
	case 16:
		synctest.Wait()
		w.checkServed()
	default:
		if w.paused[w.at[i]] {
			return // gRPC could wait for the connection while it holds a lock, and then the clock stops
		}
		t, name := wire.Type(w.rand.IntN(wire.NumTypes)), worldNames[w.rand.IntN(len(worldNames))]
		_ = c.Ask(w.rand, t, name, map[string]string{"k": fmt.Sprintf("v%d", w.rand.IntN(3))}) // the relay may be killed
	}
}

// reconnect resumes a client at its relay, which runs. The connection of a relay that was
// killed is ready until its end is noticed, and a stream on it fails; then the client tries
// again, like any other.
func (w *world) reconnect(i int) {
	conn := w.conns[w.at[i]]
	err := w.clients[i].Reconnect(ready(conn))
	for attempt := 1; err != nil && attempt < 10; attempt++ {
		synctest.Wait()
		err = w.clients[i].Reconnect(ready(conn))
	}
	must(w.t, err)
}

// checkServed fails the test if a client holds what no state had.
func (w *world) checkServed() {
	for i, c := range w.clients {
		for t := range wire.Type(wire.NumTypes) {
			for _, r := range c.Named(t) {
				if !w.served[c.Node.ID+" "+r.Body] {
					w.t.Errorf("client %d (%s) holds %s %q, which was never served to it", i, c, t, r.Body)
				}
			}
		}
	}
}

// finish starts what was killed, and compares. What clients have lost with a stream is
// resumed.
func (w *world) finish() {
	for i := range w.sites {
		w.pause(i, false)
		w.start(i)
	}
	w.edit(func(s *xdstest.State) {
		for i := range w.clients {
			s.Nodes[w.nodeOf(i)] = w.snapshot("good")
		}
		for name, variants := range s.Variants {
			if slices.ContainsFunc(variants, func(v wire.Variant) bool { return strings.Contains(string(v.Resource.Body), "bad") }) {
				s.Variants[name] = w.variants(name.Type, name.Name, "good")
			}
		}
	})
	time.Sleep(time.Minute)
	for i, c := range w.clients {
		c.Thaw()
		synctest.Wait()
		if c.Err() != nil {
			w.reconnect(i)
		}
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	w.checkServed()
	for i, c := range w.clients {
		for _, d := range c.Differences(w.source.State()) {
			w.t.Errorf("client %d (%s) at relay %d: %s", i, c, w.at[i], d)
		}
		if err := c.Err(); err != nil {
			w.t.Errorf("client %d: %v", i, err)
		}
	}
	for i, r := range w.relays {
		if r != nil && r.Counters().Rejected.Load() > 0 {
			w.t.Errorf("relay %d has rejected %d responses of an upstream that is right", i, r.Counters().Rejected.Load())
		}
	}
}
