package xdstest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// fleetServices are the services of a fleet's nodes.
var fleetServices = []string{"a", "b", "c", "d"}

// A Fleet has models of all programs at servers of one source, and edits the source at random. It
// runs in a bubble of synctest.
type Fleet struct {
	Models []*Model
	source *Source
	random *rand.Rand
	conns  []grpc.ClientConnInterface
	served map[string]map[Seen]bool // all that a node was ever given
}

// NewFleet connects models to random connections. Each program has two models.
func NewFleet(t testing.TB, seed uint64, source *Source, conns ...grpc.ClientConnInterface) *Fleet {
	f := &Fleet{source: source, random: rand.New(rand.NewPCG(seed, 3)), conns: conns, served: map[string]map[Seen]bool{}}
	for i, p := range slices.Repeat(Programs(), 2) {
		services := fleetServices[:1+i%len(fleetServices)]
		m := NewModel(p, fleetNode(p, i%2), seed<<8|uint64(i), services...)
		f.Models = append(f.Models, m)
	}
	for i := range f.Models {
		f.editNode(f.Models[i])
	}
	for _, m := range f.Models {
		f.reconnect(t, m)
		t.Cleanup(m.Close)
	}
	return f
}

func fleetNode(p Program, i int) string {
	if p.GRPC {
		return fmt.Sprint("grpc", i)
	}
	return fmt.Sprint("envoy", i)
}

// editNode gives the node of a model another snapshot.
func (f *Fleet) editNode(m *Model) {
	snapshot := RandomServices(f.random, fleetServices, m.Program.GRPC)
	if f.served[m.ID] == nil {
		f.served[m.ID] = map[Seen]bool{}
	}
	for t, of := range snapshot {
		for _, r := range slices.Concat(of.Listed, of.Named) {
			f.served[m.ID][Seen{wire.Type(t), r.Name, string(r.Append(nil))}] = true
		}
	}
	f.source.Edit(func(s *State) { s.Nodes[m.ID] = snapshot })
}

// reconnect connects a model to a random server, which is there.
func (f *Fleet) reconnect(t testing.TB, m *Model) {
	if err := m.Connect(f.conns[f.random.IntN(len(f.conns))]); err != nil {
		t.Fatal(err)
	}
}

// Step edits, moves a model while an edit comes, lets a gRPC client call other services, or waits.
func (f *Fleet) Step(t testing.TB) {
	switch m := f.Models[f.random.IntN(len(f.Models))]; f.random.IntN(6) {
	case 0, 1:
		f.editNode(m)
	case 2, 3:
		m.Close()
		if f.random.IntN(2) == 0 {
			f.editNode(m)
		}
		f.reconnect(t, m)
	case 4:
		if m.Program.GRPC {
			m.Call(Some(f.random, fleetServices)...)
		}
	default:
		time.Sleep(time.Duration(f.random.IntN(3000)) * time.Millisecond)
	}
}

// Some returns one or more elements of a list, in a random order.
func Some(random *rand.Rand, list []string) []string {
	list = slices.Clone(list)
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list[:1+random.IntN(len(list))]
}

// CheckWarm fails the test if an Envoy still warms a cluster 1 s after the last edit (SPEC 12.3).
func (f *Fleet) CheckWarm(t testing.TB) {
	time.Sleep(time.Second)
	synctest.Wait()
	for i, m := range f.Models {
		if warming := m.Warming(); len(warming) > 0 {
			t.Errorf("1 s later, model %d (%s) still warms %v", i, m.Program.Name, warming)
		}
	}
}

// CheckConverged fails the test unless each model holds what its node has now, and has never held
// anything that its node never had. A response without an answer is given up after 15 s (SPEC
// 12.3), and so is a cluster without endpoints, so it waits a minute.
func (f *Fleet) CheckConverged(t testing.TB) {
	time.Sleep(time.Minute)
	synctest.Wait()
	state := f.source.State()
	for i, m := range f.Models {
		for _, d := range slices.Concat(m.Differences(state.Nodes[m.ID]), m.Problems()) {
			t.Errorf("model %d (%s, node %s): %s", i, m.Program.Name, m.ID, d)
		}
		for seen := range m.Seen() {
			if !f.served[m.ID][seen] {
				t.Errorf("model %d (%s) has held %s %s %q, which its node never had", i, m.Program.Name, seen.Type, seen.Name, seen.Body)
			}
		}
	}
}
