package serve_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"github.com/meshmatch/meshmatch/fuzz"
)

// TestWorld follows edits through all that lies between a store and a client: two replicas of serve
// at one store, a relay in front of them, a relay behind that one, twenty models of real programs
// (xdstest.Program) and two clients by locator, in one bubble. The store is one in memory or a model
// of etcd. Connections are cut, pause, and delay what they deliver; servers restart or are killed;
// the store loses watches, forgets, lags and is set back (world_script_test.go).
//
// After each quiet phase:
//
//  1. every client holds what a server would give it that begins with the last documents;
//  2. no client has ever held what no revision of the documents had, or lost what all of them had;
//  3. no locator has ever matched two variants;
//  4. no client was sent what it had, and no cluster waited in vain for its endpoints, except while
//     the network had faults;
//  5. nothing waits: each node has converged everywhere, and no relay has a wrong name.
//
// The seed fixes edits, network and time, but not the scheduler. So a failing seed is run up to
// twenty times with a part of its script left out, and the shortest script that fails is printed.
// WORLD_SEED is the first seed, and WORLD_SEEDS their number, by default a few. With WORLD_UNTIL_FAILURE, the first
// failure ends the test (see .ci/world-mutants).
func TestWorld(t *testing.T) {
	first, n := worldSeeds(t)
	until := os.Getenv("WORLD_UNTIL_FAILURE") != ""
	var failed atomic.Bool
	var ran atomic.Int64
	var held worldHeld
	t.Run("seed", func(t *testing.T) {
		for seed := first; seed < first+n; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				script := newWorldScript(seed)
				if until && failed.Load() {
					return // TestWorld has failed already
				}
				problems := runWorld(t, script, &held)
				seeds := ran.Add(1)
				if len(problems) > 0 {
					if failed.Store(true); until {
						t.Fatalf("found by %d seeds:\n%s\n%s", seeds, strings.Join(problems, "\n"), script)
					}
					shortest, problems := script.shrink(problems, 20, func(s *worldScript) []string { return runWorld(t, s, &held) })
					t.Errorf("%d problems:\n%s\nof %d steps, these are left:\n%s", len(problems), strings.Join(problems, "\n"), len(script.steps), shortest)
				}
			})
		}
	})
	held.check(t)
}

// worldHeld is what clients have held in any world, by program. A world in which a program gets nothing
// would prove nothing about it.
type worldHeld struct {
	mu   sync.Mutex
	held map[programType]bool
}

type programType struct {
	program string
	t       wire.Type
}

func (h *worldHeld) note(program string, t wire.Type) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held == nil {
		h.held = map[programType]bool{}
	}
	h.held[programType{program, t}] = true
}

func (h *worldHeld) check(t *testing.T) {
	for _, p := range xdstest.Programs() {
		for _, of := range []wire.Type{wire.ClusterType, wire.EndpointType, wire.ListenerType, wire.RouteType} {
			if !h.held[programType{p.Name, of}] {
				t.Errorf("no %s has held any %s", p.Name, of)
			}
		}
	}
}

// runWorld runs a script in a bubble, and returns what is wrong.
func runWorld(t *testing.T, script *worldScript, held *worldHeld) (problems []string) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, script, held)
		for _, s := range script.steps {
			w.step(s)
			if len(w.problems) > 0 {
				break
			}
		}
		if len(w.problems) == 0 {
			w.quiet()
		}
		w.problems = w.problems[:min(len(w.problems), 20)]
		w.end()
		problems = w.problems
	})
	return problems
}

// TestSoakRelays makes thousands of edits in one world with a chain of three relays: 1,000 for each unit
// of SOAK, and a few without it. Every 50 edits it is as TestWorld after a quiet phase.
func TestSoakRelays(t *testing.T) {
	edits := 100
	if n := fuzz.Soak(t); n > 1 {
		edits = 1000 * n
	}
	first, _ := worldSeeds(t)
	script := &worldScript{seed: first, relays: 3}
	synctest.Test(t, func(t *testing.T) {
		w, random := newWorld(t, script, &worldHeld{}), rand.New(rand.NewPCG(script.seed, 23))
		for next := 50; w.edits < edits && len(w.problems) == 0; {
			w.step(worldStep{pick(random, stormySteps), random.Uint64()})
			if w.edits >= next || w.isSet { // then there are no edits
				w.quiet()
				next = w.edits + 50
			}
		}
		w.end()
		for _, p := range w.problems {
			t.Errorf("seed %d, after %d edits: %s", script.seed, w.edits, p)
		}
		t.Logf("%d edits", w.edits)
	})
}

// world is a run of TestWorld.
type world struct {
	t        *testing.T
	files    *soakFiles
	stored   map[resource.ID]string
	ids      map[string]resource.ID // by document
	store    worldStore
	isSet    bool // back: the replicas have to restart
	sites    []*worldSite
	clients  []*worldClient
	locators []*worldLocator
	served   map[worldProgram]*worldServed
	delay    atomic.Int64 // the longest one of a response
	faults   bool         // since the last quiet phase
	edits    int
	problems []string
	held     *worldHeld

	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// worldProgram is what the snapshots of a client depend on.
type worldProgram struct{ node, agent, version string }

// worldServed is what the revisions had for a program.
type worldServed struct {
	resources map[xdstest.Seen]bool
	endpoints map[string]bool // by name and bytes
	revisions int
	times     map[xdstest.Reference]int // revisions that had a name
}

// worldServices are what clients of gRPC call: the outbounds that [soakFiles.member] writes.
var worldServices = []string{"default/api", "default/web", "default/api?version=v1", "default/web?kuma.io/protocol=http"}

// worldDrain is the drain time of proxies.
const worldDrain = 20 * time.Second

func newWorld(t *testing.T, script *worldScript, held *worldHeld) *world {
	random := rand.New(rand.NewPCG(script.seed, 21))
	w := &world{t: t, held: held, files: newSoakFiles(t, random), stored: map[resource.ID]string{}, ids: map[string]resource.ID{},
		served: map[worldProgram]*worldServed{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.delay.Store(int64(random.IntN(2)) * int64(time.Second)) // so that clients move while clusters warm
	if random.IntN(2) == 0 {
		w.store = newWorldMemory()
	} else {
		w.store = newWorldEtcd()
	}
	programs := xdstest.Programs()
	for i := range 20 {
		p := programs[i%len(programs)]
		m := xdstest.NewModel(p, soakNode(soakNames[random.IntN(len(soakNames))]), script.seed<<8|uint64(i), xdstest.Some(random, worldServices)...)
		m.Drain, m.Reject = worldDrain, worldReject
		m.Metadata, _ = structpb.NewStruct(map[string]any{wire.DrainMetadata: worldDrain.String()})
		w.clients = append(w.clients, &worldClient{model: m, move: make(chan struct{}, 1), rand: rand.New(rand.NewPCG(script.seed, uint64(i)))})
		w.served[programOf(m)] = &worldServed{map[xdstest.Seen]bool{}, map[string]bool{}, 0, map[xdstest.Reference]int{}}
	}
	w.put()
	for i := range 2 + script.relays {
		w.sites = append(w.sites, w.newSite(i, script.seed, random))
	}
	for _, s := range w.sites { // a relay finds its upstreams in the list
		s.start()
	}
	for i, c := range w.clients {
		c.at.Store(int64(random.IntN(len(w.sites))))
		w.running.Go(func() { c.run(w, uint64(i)) })
	}
	set, _ := w.files.load()
	for i := range 2 {
		l := &worldLocator{move: make(chan struct{}, 1)}
		for range 3 {
			l.parameters = append(l.parameters, variant.ParametersOf(set.Dataplanes[random.IntN(len(set.Dataplanes))], 0))
		}
		l.at.Store(int64(random.IntN(len(w.sites))))
		w.locators = append(w.locators, l)
		w.running.Go(func() { l.run(w, uint64(100+i)) })
	}
	return w
}

func programOf(m *xdstest.Model) worldProgram {
	return worldProgram{m.ID, m.Program.UserAgent, m.Program.Version}
}

func (p worldProgram) serverNode() *server.Node {
	return &server.Node{ID: p.node, UserAgent: p.agent, Version: p.version}
}

// worldReject rejects what soakFiles marks.
func worldReject(h xdstest.Held) string {
	if strings.Contains(h.Body, rejected) || strings.Contains(h.Body, rejectedAddress) {
		return "the test rejects it"
	}
	return ""
}

// put writes the documents that differ to the store, and notes what they serve.
func (w *world) put() {
	next, changes := map[resource.ID]string{}, map[resource.ID]string{}
	for name, document := range w.files.documents {
		if id, ok := w.idOf(document); ok {
			next[id] = document
		} else {
			w.files.remove(name)
		}
	}
	for id, document := range next {
		if w.stored[id] != document {
			changes[id] = document
		}
	}
	for id := range w.stored {
		if _, found := next[id]; !found {
			changes[id] = ""
		}
	}
	if w.stored = next; len(changes) > 0 {
		w.note()
		w.store.put(changes)
	}
}

// idOf returns the identity of a document's resource, or false if it has not exactly one.
func (w *world) idOf(document string) (resource.ID, bool) {
	if id, known := w.ids[document]; known {
		return id, id.Name != ""
	}
	set, err := w.files.decode(map[string]string{"document": document})
	var ids []resource.ID
	if err == nil {
		ids = idsOf(set)
	}
	if len(ids) != 1 {
		ids = []resource.ID{{}}
	}
	w.ids[document] = ids[0]
	return ids[0], ids[0].Name != ""
}

// idsOf returns the identities of the resources of a set.
func idsOf(set *resource.Set) (ids []resource.ID) {
	for _, m := range set.Meshes {
		ids = append(ids, m.ID)
	}
	for _, d := range set.Dataplanes {
		ids = append(ids, d.ID)
	}
	for _, p := range set.Policies {
		ids = append(ids, p.ID)
	}
	for _, o := range set.Objects {
		ids = append(ids, o.Identity().ID)
	}
	for _, d := range set.Documents {
		ids = append(ids, d.ID)
	}
	return ids
}

// note notes what a server gives that begins with the documents.
func (w *world) note() {
	e := w.files.expected()
	for p, served := range w.served {
		snapshot, ok := e.Node(p.serverNode())
		if served.revisions++; !ok {
			continue
		}
		for t, of := range snapshot {
			for _, r := range slices.Concat(of.Listed, of.Named) {
				body := string(r.Append(nil))
				served.resources[xdstest.Seen{Type: wire.Type(t), Name: r.Name, Body: body}] = true
				served.times[xdstest.Reference{Type: wire.Type(t), Name: r.Name}]++
				if wire.Type(t) == wire.EndpointType {
					for _, one := range xdstest.EndpointsOf(body) {
						served.endpoints[r.Name+" "+one] = true
					}
				}
			}
		}
	}
}

// had reports whether a revision had a resource. Endpoints whose certificates only the next version of
// their cluster accepts come later than the others (SPEC 12.3), and a permission filter that drains
// follows edits without being part of any snapshot.
func (s *worldServed) had(seen xdstest.Seen) bool {
	switch {
	case s.resources[seen] || seen.Type == wire.ExtensionType:
		return true
	case seen.Type != wire.EndpointType:
		return false
	}
	return !slices.ContainsFunc(xdstest.EndpointsOf(seen.Body), func(one string) bool { return !s.endpoints[seen.Name+" "+one] })
}

// again waits until a client connects again. It reports whether the world has not ended.
func (w *world) again(random *rand.Rand) bool {
	return w.wait(time.Duration(200+random.IntN(1000)) * time.Millisecond)
}

// wait waits for a time. It reports whether the world has not ended.
func (w *world) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-w.ctx.Done():
		return false
	}
}

// sleep lets time go on.
func (w *world) sleep(d time.Duration) { time.Sleep(d) }

// quiet ends all faults, waits, writes documents that no client rejects, waits, and checks.
func (w *world) quiet() {
	w.store.mend()
	w.delay.Store(0)
	for _, s := range w.sites {
		s.Resume()
	}
	for i, s := range w.sites {
		if w.isSet && i < 2 {
			s.end(false)
		}
		s.start()
	}
	w.isSet = false
	if !w.faults {
		time.Sleep(20 * time.Second) // the next edit would hide that a cluster waits for its endpoints
	}
	w.files.settle()
	w.put()
	if time.Sleep(time.Minute); w.faults { // until then relays have found their upstreams
		for _, c := range w.clients {
			c.model.Forgive()
		}
	}
	w.faults = false
	time.Sleep(time.Minute)
	synctest.Wait()
	w.check()
}

func (w *world) problem(format string, arguments ...any) {
	text := fmt.Sprintf(format, arguments...)
	w.problems = append(w.problems, text[:min(len(text), 1000)])
}

func (w *world) check() {
	e := w.files.expected()
	for i, c := range w.clients {
		m := c.model
		snapshot, _ := e.Node(programOf(m).serverNode())
		for _, d := range slices.Concat(m.Differences(snapshot), m.Problems()) {
			w.problem("client %d (%s of %s at %s): %s", i, m.Program.Name, m.ID, w.sites[c.at.Load()].name, d)
		}
		if warming := m.Warming(); len(warming) > 0 {
			w.problem("client %d (%s): it still warms %v", i, m.Program.Name, warming)
		}
		for seen := range m.Seen() {
			w.held.note(m.Program.Name, seen.Type)
			if !w.served[programOf(m)].had(seen) {
				w.problem("client %d (%s of %s) has held %s %s %q, which no revision had", i, m.Program.Name, m.ID, seen.Type, seen.Name, seen.Body)
			}
		}
	}
	for i, c := range w.clients {
		for lost := range c.model.Lost() {
			if served := w.served[programOf(c.model)]; served.times[lost] == served.revisions {
				w.problem("client %d (%s of %s) has lost %s %s, which each revision had", i, c.model.Program.Name, c.model.ID, lost.Type, lost.Name)
			}
		}
	}
	for i, l := range w.locators {
		for _, p := range l.check(e) {
			w.problem("client %d by locator at %s: %s", i, w.sites[l.at.Load()].name, p)
		}
	}
	for _, s := range w.sites {
		for _, p := range s.check() {
			w.problem("%s: %s", s.name, p)
		}
	}
}

// end ends all clients and servers.
func (w *world) end() {
	w.cancel()
	w.running.Wait()
	for _, s := range slices.Backward(w.sites) {
		s.end(false)
	}
	w.store.close()
}
