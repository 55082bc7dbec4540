package serve_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/resource"
)

// worldScript is what happens in a world. Each step can be left out.
type worldScript struct {
	seed   uint64
	relays int // in a row
	steps  []worldStep
}

// worldStep is a step. What it does follows from its own seed and the state of the world.
type worldStep struct {
	what string
	seed uint64
}

// The steps of calm and stormy phases. A calm phase has no faults, so that whatever a client lacks is
// the fault of a server.
var (
	calmSteps   = []string{"edit", "edit", "edit", "edit", "move", "move", "move", "warm", "call", "call", "wait", "wait"}
	stormySteps = slices.Concat(calmSteps, []string{"remove", "bad", "cut", "pause", "resume", "delay", "stop", "kill", "start", "start", "store", "store", "set back"})
)

// newWorldScript returns the script of a seed: a calm phase, and two stormy ones.
func newWorldScript(seed uint64) *worldScript {
	random := rand.New(rand.NewPCG(seed, 20))
	s := &worldScript{seed: seed, relays: 2}
	for phase := range 3 {
		of, n := calmSteps, 12
		if phase > 0 {
			of, n = stormySteps, 20
		}
		for range n {
			s.steps = append(s.steps, worldStep{of[random.IntN(len(of))], random.Uint64()})
		}
		s.steps = append(s.steps, worldStep{"quiet", 0})
	}
	return s
}

func (s *worldScript) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d:", s.seed)
	for _, step := range s.steps {
		fmt.Fprintf(&b, " %s(%x)", step.what, step.seed>>48)
	}
	return b.String()
}

// shrink leaves parts of the script out while it fails, in a number of runs, and returns the shortest
// one that failed with its problems.
func (s *worldScript) shrink(problems []string, runs int, run func(*worldScript) []string) (*worldScript, []string) {
	for size := (len(s.steps) + 1) / 2; size > 0 && runs > 0; size /= 2 {
		for at := 0; at < len(s.steps) && runs > 0; runs-- {
			shorter := &worldScript{s.seed, s.relays, slices.Delete(slices.Clone(s.steps), at, min(at+size, len(s.steps)))}
			if found := run(shorter); len(found) > 0 {
				s, problems = shorter, found
			} else {
				at += size
			}
		}
	}
	return s, problems
}

// worldSeeds returns the first seed and the number of seeds.
func worldSeeds(t *testing.T) (first, n uint64) {
	if n = 4; testing.Short() { // with the race detector
		n = 1
	}
	for name, value := range map[string]*uint64{"WORLD_SEED": &first, "WORLD_SEEDS": &n} {
		if text := os.Getenv(name); text != "" {
			var err error
			if *value, err = strconv.ParseUint(text, 10, 32); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	return first, n
}

// step does a step.
func (w *world) step(step worldStep) {
	random := rand.New(rand.NewPCG(step.seed, 22))
	w.files.rand = random
	site := w.sites[random.IntN(len(w.sites))]
	if w.faults = w.faults || !slices.Contains(calmSteps, step.what) && step.what != "quiet"; step.what == "quiet" {
		w.quiet()
		return
	}
	switch step.what {
	case "edit":
		w.edit(false)
	case "remove":
		w.edit(true)
	case "bad":
		// An object that never was good has no effect.
		w.store.put(map[resource.ID]string{{Kind: "MeshTimeout", Mesh: "default", Name: "bad"}: badDocuments[1]})
	case "move":
		w.move(random)
	case "warm":
		w.moveWarming(random)
	case "call":
		for _, c := range w.clients {
			if c.model.Program.GRPC && random.IntN(2) == 0 {
				c.model.Call(xdstest.Some(random, worldServices)...)
			}
		}
	case "wait":
		w.sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
	case "cut":
		site.Cut()
	case "pause":
		site.Pause()
	case "resume":
		// What was sent is lost with half of the connections.
		if random.IntN(2) == 0 {
			site.Cut()
		}
		site.Resume()
	case "delay":
		w.delay.Store(int64(time.Duration(random.IntN(2000)) * time.Millisecond))
	case "stop", "kill":
		site.end(step.what == "kill")
	case "start":
		site.start()
	case "store":
		w.store.fault(random)
	case "set back":
		w.setBack(random)
	}
}

// edit changes documents. Those that would make the whole input invalid are not written. A store that
// was set back is not edited before the replicas have restarted: one that is not connected would take
// the edit for one of the state that it has.
func (w *world) edit(remove bool) {
	if w.isSet {
		return
	}
	before := maps.Clone(w.files.documents)
	if w.files.edit(); !remove {
		for _, name := range soakNames {
			if _, found := w.files.documents[name+".yaml"]; !found {
				w.files.put(name+".yaml", before[name+".yaml"])
			}
		}
	}
	if _, err := w.files.load(); err != nil {
		w.files.restore(before)
	}
	w.put()
	w.edits++
}

// move moves some clients to another site, or all clients of a site stop for a time. Sometimes an edit
// comes shortly before, or while they are away.
func (w *world) move(random *rand.Rand) {
	to, when := int64(random.IntN(len(w.sites))), random.IntN(4)
	if when == 0 {
		w.edit(false)
		w.sleep(time.Duration(random.IntN(1000)) * time.Millisecond)
	}
	if random.IntN(2) == 0 {
		l := w.locators[random.IntN(len(w.locators))]
		l.at.Store(to)
		wake(l.move)
	}
	if random.IntN(4) == 0 {
		for _, c := range w.clients {
			if c.at.Load() == to {
				c.stops.Store(true)
				wake(c.move)
			}
		}
	} else {
		for range 1 + random.IntN(6) {
			c := w.clients[random.IntN(len(w.clients))]
			c.at.Store(to)
			wake(c.move)
		}
	}
	if when > 1 {
		w.sleep(time.Millisecond)
		w.edit(false)
	}
}

// moveWarming changes clusters, and moves clients to another site while their clusters warm.
func (w *world) moveWarming(random *rand.Rand) {
	if w.isSet {
		return
	}
	delay := w.delay.Swap(int64(time.Second))
	defer w.delay.Store(delay)
	w.files.clusters()
	w.put()
	w.edits++
	for range 20 {
		w.sleep(100 * time.Millisecond)
		for _, c := range w.clients {
			if len(c.model.Warming()) > 0 && random.IntN(2) == 0 {
				c.at.Store(int64(random.IntN(len(w.sites))))
				wake(c.move)
			}
		}
	}
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// setBack sets the store back to the state before an edit. The documents are those of then.
func (w *world) setBack(random *rand.Rand) {
	if w.isSet {
		return
	}
	documents, stored, back := maps.Clone(w.files.documents), maps.Clone(w.stored), w.store.backup()
	w.edit(false)
	w.sleep(time.Duration(random.IntN(3000)) * time.Millisecond)
	w.files.restore(documents)
	w.stored, w.isSet = stored, true
	back()
}
