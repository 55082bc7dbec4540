package server_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// TestPartialState plays the scripts about states that do not contain everything yet.
// testdata/partial/README has their steps.
func TestPartialState(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.name, func(t *testing.T) {
			for _, s := range readScripts(t, "testdata/partial/"+protocol.name+".txt") {
				t.Run(s.name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						if err := play(t, s, newPartly(t), protocol.wire()); err != nil {
							t.Error(err)
						}
					})
				})
			}
		})
	}
}

// partly is a server of partial states.
type partly struct {
	*running
	source   *switching
	verdicts map[string]server.Verdict // what the next state does not know or denies
}

func newPartly(t testing.TB) *partly {
	source := newSwitching(&partialState{State: xdstest.NewState()})
	return &partly{start(t, server.Options{Source: source, Parameters: metadataOf}), source, map[string]server.Verdict{}}
}

func (p *partly) publish(state *xdstest.State) {
	p.source.publish(&partialState{state, maps.Clone(p.verdicts)})
}

func (p *partly) connect(testing.TB, int) grpc.ClientConnInterface { return p.conn }

// set handles the steps "unknown" and "denied".
func (p *partly) set(step string, words []string) {
	verdict := server.Unknown
	if step == "denied" {
		verdict = server.Denied
	}
	maps.DeleteFunc(p.verdicts, func(_ string, v server.Verdict) bool { return v == verdict })
	for _, w := range words {
		p.verdicts[w] = verdict
	}
}

// A partialState is a state without the answers to some questions, which are in the syntax
// of scripts.
type partialState struct {
	*xdstest.State
	verdicts map[string]server.Verdict
}

// AnswerNode implements server.PartialState.
func (s *partialState) AnswerNode(_ *server.Client, node *server.Node) (*wire.Snapshot, server.Verdict) {
	if verdict, ok := s.verdicts[node.ID]; ok {
		return nil, verdict
	}
	if snapshot, ok := s.Node(node); ok {
		return snapshot, server.Found
	}
	return nil, server.Missing
}

// AnswerName implements server.PartialState.
func (s *partialState) AnswerName(_ *server.Client, node *server.Node, t wire.Type, name string, p server.Parameters) (*wire.Resource, server.Verdict) {
	for _, question := range []string{node.ID, fmt.Sprintf("%s/%s/%s", node.ID, t, name)} {
		if verdict, ok := s.verdicts[question]; ok {
			return nil, verdict
		}
	}
	if v, ok := s.Locate(nil, t, name, p.Values); ok && p.Key != "" {
		return v.Resource, server.Found
	}
	return nil, server.Missing
}

// Answer implements server.PartialState.
func (s *partialState) Answer(_ *server.Client, _ *server.Node, t wire.Type, name string, p server.Parameters) (wire.Variant, server.Verdict) {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(p.Values)) {
		pairs = append(pairs, key+"="+p.Values[key])
	}
	of := fmt.Sprintf("@%s/%s", t, name)
	for _, question := range []string{of, of + "{" + strings.Join(pairs, ",") + "}"} {
		if verdict, ok := s.verdicts[question]; ok {
			return wire.Variant{}, verdict
		}
	}
	if v, ok := s.Locate(nil, t, name, p.Values); ok {
		return v, server.Found
	}
	return wire.Variant{}, server.Missing
}

// Keeps is for server.State.
func (s *partialState) Keeps(node *server.Node, before server.State) bool {
	old, ok := before.(*partialState)
	if !ok || len(node.Parameters) > 0 || s.Nodes[node.ID] != old.Nodes[node.ID] {
		return false
	}
	isOther := func(question string, _ server.Verdict) bool {
		return question != node.ID && !strings.HasPrefix(question, node.ID+"/")
	}
	verdicts, earlier := maps.Clone(s.verdicts), maps.Clone(old.verdicts)
	maps.DeleteFunc(verdicts, isOther)
	maps.DeleteFunc(earlier, isOther)
	return maps.Equal(verdicts, earlier)
}

// A node that waits for what is not known has not converged, even if it has accepted all that
// it was sent.
func TestConvergenceOfPartialState(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		p := newPartly(t)
		state := xdstest.NewState()
		state.Nodes["n"] = xdstest.Snapshot(xdstest.Resource(wire.EndpointType, "a", "1"))
		p.set("unknown", []string{"n/endpoints/b"})
		p.publish(state)
		c := p.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, c.Subscribe(wire.EndpointType, "a", "b"))
		await(t, c, wire.EndpointType, xdstest.Resource(wire.EndpointType, "a", "1"))
		if got := p.NodeState("n"); got != server.Pending {
			t.Errorf("while a name is not known, the node is %v", got)
		}
		p.set("unknown", nil)
		p.publish(state)
		if !settles(func() bool { return p.NodeState("n") == server.Converged }) {
			t.Errorf("when all is known, the node is %v", p.NodeState("n"))
		}
	})
}

// What streams subscribe to can be listed: by locator and by the parameters of a node for all
// streams, and by name for one node.
func TestSubscriptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPartly(t)
		all := func() string {
			synctest.Wait()
			var got []string
			p.Subscriptions(func(_ *server.Client, _ *server.Node, t wire.Type, name string, of server.Parameters) {
				if of.Key != server.ParametersOf(of.Values).Key {
					name += " with a wrong key"
				}
				got = append(got, fmt.Sprintf("%s/%s%v", t, name, of.Values))
			})
			slices.Sort(got)
			return strings.Join(got, " ")
		}
		ofNode := func(id string) (string, bool) {
			synctest.Wait()
			var got []string
			found := p.NodeSubscriptions(id, func(_ *server.Client, node *server.Node, t wire.Type, name string) {
				got = append(got, fmt.Sprintf("%s/%s/%s", node.ID, t, name))
			})
			return strings.Join(got, " "), found
		}
		if got := all(); got != "" {
			t.Errorf("without streams there are the subscriptions %s", got)
		}
		plain := p.client(t, xdstest.Options{Node: node("n")})
		must(t, plain.Wildcard(wire.ClusterType))
		must(t, plain.Subscribe(wire.EndpointType, "e"))
		must(t, plain.SubscribeLocators(wire.EndpointType, xdstest.Locator{Name: "web", Parameters: map[string]string{"env": "prod"}}))
		legacy := p.client(t, xdstest.Options{Node: nodeOf("m{env=test}"), StateOfTheWorld: true})
		must(t, legacy.Subscribe(wire.ClusterType, "db", "web"))
		must(t, legacy.Wildcard(wire.RouteType))
		if got, want := all(), "clusters/dbmap[env:test] clusters/webmap[env:test] endpoints/webmap[env:prod]"; got != want {
			t.Errorf("the subscriptions are %s, want %s", got, want)
		}
		for id, want := range map[string]string{"n": "n/clusters/* n/endpoints/e", "m": "m/clusters/db m/clusters/web m/routes/*"} {
			if got, found := ofNode(id); got != want || !found {
				t.Errorf("the node subscribes %s, want %s", got, want)
			}
		}
		if got, found := ofNode("other"); got != "" || found {
			t.Errorf("a node without a stream subscribes %s, and is found: %v", got, found)
		}
	})
}

// TestRandomPartialState publishes states that do not contain everything, at random, of
// contents that change and names that never go, while clients subscribe, stop reading and
// reconnect. No client ever loses a name, and at the end, when everything is known, each
// holds what there is.
func TestRandomPartialState(t *testing.T) {
	xdstest.Seeds(t, 6, func(t *testing.T, seed uint64) {
		w := newPartialWorld(t, seed)
		for range 300 {
			w.step()
		}
		w.finish()
	})
}

// partialWorld is a run of TestRandomPartialState.
type partialWorld struct {
	t       *testing.T
	rand    *rand.Rand
	truth   *xdstest.State
	known   map[string]knownNode // what was published
	server  *partly
	clients []*xdstest.Actor
}

// A knownNode is what is known of a node.
type knownNode struct {
	snapshot *wire.Snapshot
	unknown  []string // questions
}

func newPartialWorld(t *testing.T, seed uint64) *partialWorld {
	w := &partialWorld{t: t, rand: rand.New(rand.NewPCG(seed, 2)), truth: xdstest.NewState(), known: map[string]knownNode{}, server: newPartly(t)}
	for _, id := range worldNodes[:2] {
		w.truth.Nodes[id] = xdstest.Snapshot()
		for k := range wire.Type(wire.NumTypes) {
			for _, name := range worldNames {
				w.edit(id, k, name)
			}
		}
	}
	w.publish()
	for i := range 8 {
		options := xdstest.Options{StateOfTheWorld: i%2 == 1}
		options.Node = xdstest.NodeOf(worldNodes[w.rand.IntN(2)], w.rand.Int())
		c, err := xdstest.NewActor(w.server.conn, options)
		must(t, err)
		w.clients = append(w.clients, c)
	}
	t.Cleanup(func() {
		for _, c := range w.clients {
			c.Close()
		}
	})
	return w
}

// selectedByWildcard reports whether the names of a type have a resource that a wildcard
// selects. Of the others, a client that unsubscribes one beside a wildcard gets a removal.
func selectedByWildcard(k wire.Type, name string) bool {
	return k != wire.ExtensionType && name != worldNames[0]
}

// edit gives a resource of a node, and the variants of its name, other contents.
func (w *partialWorld) edit(id string, k wire.Type, name string) {
	resource := func() *wire.Resource { return xdstest.Resource(k, name, fmt.Sprint(w.rand.IntN(3))) }
	snapshot := *w.truth.Nodes[id]
	list := &snapshot[k].Listed
	if !selectedByWildcard(k, name) {
		list = &snapshot[k].Named
	}
	*list = slices.DeleteFunc(slices.Clone(*list), func(r *wire.Resource) bool { return r.Name == name })
	*list = append(*list, resource())
	slices.SortFunc(*list, func(a, b *wire.Resource) int { return strings.Compare(a.Name, b.Name) })
	w.truth = w.truth.Clone()
	w.truth.Nodes[id] = &snapshot
	constraint := fmt.Sprintf(`{"constraint": {"key": "k", "value": "v%d"}}`, w.rand.IntN(2))
	w.truth.Variants[xdstest.Name{Type: k, Name: name}] = []wire.Variant{
		xdstest.Variant(resource(), constraint),
		xdstest.Variant(resource(), `{"notConstraints": `+constraint+`}`),
	}
}

// publish publishes what is known of the truth: nothing of a node, or not all of its names
// and of the locators. Of some nodes it is what was known before.
func (w *partialWorld) publish() {
	known := w.truth.Clone()
	var unknown []string
	for _, id := range worldNodes[:2] {
		if _, ok := w.known[id]; !ok || w.rand.IntN(2) == 0 {
			w.known[id] = w.learn(id)
		}
		known.Nodes[id] = w.known[id].snapshot
		unknown = append(unknown, w.known[id].unknown...)
	}
	for name := range known.Variants {
		if w.rand.IntN(4) == 0 {
			unknown = append(unknown, fmt.Sprintf("@%s/%s", name.Type, name.Name))
		}
	}
	w.server.set("unknown", unknown)
	w.server.publish(known)
}

// learn returns what is known of a node now.
func (w *partialWorld) learn(id string) knownNode {
	snapshot := w.truth.Nodes[id]
	if w.rand.IntN(6) == 0 {
		return knownNode{snapshot, []string{id}}
	}
	part := func(r wire.Resources) wire.Resources {
		forget := func(*wire.Resource) bool { return w.rand.IntN(8) == 0 }
		return wire.Resources{Listed: slices.DeleteFunc(slices.Clone(r.Listed), forget), Named: slices.DeleteFunc(slices.Clone(r.Named), forget)}
	}
	c, unknown := *snapshot, []string(nil)
	for k := range wire.Type(wire.NumTypes) {
		if w.rand.IntN(3) > 0 {
			continue
		}
		if c[k] = part(c[k]); len(c[k].Listed) < len(snapshot[k].Listed) {
			unknown = append(unknown, fmt.Sprintf("%s/%s/*", id, k))
		}
		for _, name := range worldNames {
			unknown = append(unknown, fmt.Sprintf("%s/%s/%s", id, k, name)) // unless the snapshot has it
		}
	}
	return knownNode{&c, unknown}
}

// step does one thing.
func (w *partialWorld) step() {
	c := w.clients[w.rand.IntN(len(w.clients))]
	t, name := wire.Type(w.rand.IntN(wire.NumTypes)), worldNames[w.rand.IntN(len(worldNames))]
	switch w.rand.IntN(10) {
	case 0, 1, 2:
		w.edit(worldNodes[w.rand.IntN(2)], t, name)
		w.publish()
	case 3, 4:
		w.publish()
	case 5:
		w.keepsNames(c)
		must(w.t, c.Reconnect(w.server.conn))
	case 6:
		c.FreezeOrThaw()
	case 7:
		time.Sleep(time.Duration(w.rand.IntN(100)) * time.Millisecond)
	default:
		must(w.t, c.Ask(w.rand, t, name, map[string]string{"k": fmt.Sprintf("v%d", w.rand.IntN(3))}))
	}
}

// finish publishes everything, and compares.
func (w *partialWorld) finish() {
	w.server.set("unknown", nil)
	w.server.publish(w.truth)
	for _, c := range w.clients {
		c.Thaw()
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	for i, c := range w.clients {
		for _, d := range c.Differences(w.truth) {
			w.t.Errorf("client %d (%s): %s", i, c, d)
		}
		w.keepsNames(c)
		if err := c.Err(); err != nil {
			w.t.Errorf("client %d: %v", i, err)
		}
	}
}

// keepsNames checks that a stream of a client had no removal and no error.
func (w *partialWorld) keepsNames(c *xdstest.Actor) {
	for _, r := range c.Responses() {
		for _, name := range slices.Concat(r.Removed, slices.Collect(maps.Keys(r.Errors))) {
			if name == "*" || selectedByWildcard(r.Type, name) {
				w.t.Errorf("%s: the %s %s are removed", c, r.Type, name)
			}
		}
	}
}
