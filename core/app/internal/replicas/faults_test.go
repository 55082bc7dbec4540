package replicas

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes/kubetest"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// seeds returns the seeds of the runs.
func seeds(t *testing.T) []uint64 {
	number := func(variable string) uint64 {
		n, err := strconv.ParseUint(os.Getenv(variable), 10, 32)
		if err != nil {
			t.Fatalf("%s: %v", variable, err)
		}
		return n
	}
	if os.Getenv("FAULT_SEED") != "" {
		return []uint64{number("FAULT_SEED")}
	}
	runs := uint64(5)
	if os.Getenv("FAULT_RUNS") != "" {
		runs = number("FAULT_RUNS")
	}
	var all []uint64
	for seed := range runs {
		all = append(all, seed+1)
	}
	return all
}

// TestFaults runs two replicas of an etcd with three members, while members, replicas and
// the network between them fail at random.
func TestFaults(t *testing.T) {
	etcdtest.Binary(t)
	pool := make(chan *members, 4)
	for range cap(pool) {
		pool <- nil
	}
	for _, seed := range seeds(t) {
		t.Run(fmt.Sprint("seed=", seed), func(st *testing.T) {
			st.Parallel()
			m := <-pool
			defer func() { pool <- m }()
			if m == nil {
				m = startMembers(t)
			}
			random := rand.New(rand.NewPCG(seed, 0))
			newRun(st, random, m.place(st, random, 2)).run()
		})
	}
}

// TestClusterFaults is [TestFaults] with the API server of Kubernetes and its etcd. A
// restart takes seconds, so it makes a fifth of the runs.
func TestClusterFaults(t *testing.T) {
	cluster := kubetest.Start(t)
	all := seeds(t)
	for _, seed := range all[:(len(all)+4)/5] {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 0))
			newRun(t, random, newClusterPlace(t, cluster, random, 2)).run()
		})
	}
}

// run is one run: states are written to a place while faults happen. Two subscribers, one
// of each protocol, stay at each replica, and one moves between them.
type run struct {
	t           *testing.T
	random      *rand.Rand
	place       place
	replicas    []*replica
	subscribers []*subscriber

	written  written
	watching sync.WaitGroup // of goroutines that check revisions
	stop     chan struct{}  // ends them
}

func newRun(t *testing.T, random *rand.Rand, p place) *run {
	network, err := envoytest.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	r := &run{t: t, random: random, place: p, written: written{0}, stop: make(chan struct{})}
	r.write(3)
	for i := range 2 {
		r.replicas = append(r.replicas, newReplica(t, network, i, p.variables(i), "-f", p.address(i)))
	}
	for _, replica := range r.replicas {
		replica.ready()
		r.watching.Go(func() { r.revisions(replica) })
		r.subscribers = append(r.subscribers,
			subscribe(t, "the delta client of "+replica.name, p.node(), false, replica),
			subscribe(t, "the state of the world client of "+replica.name, p.node(), true, replica))
	}
	r.subscribers = append(r.subscribers, subscribe(t, "the client that moves", p.node(), false, r.replicas...))
	return r
}

// revisions checks that the revision of a replica never goes back, until the run ends.
func (r *run) revisions(replica *replica) {
	var last source.Revision
	for {
		select {
		case <-r.stop:
			return
		case <-time.After(100 * time.Millisecond):
		}
		revision := replica.revision()
		if revision > 0 && revision < last && !replica.beganWithoutStore() {
			r.t.Errorf("%s is at revision %d, after %d", replica.name, revision, last)
		}
		last = max(last, revision)
	}
}

// write writes the next state.
func (r *run) write(dataplanes int) {
	number := len(r.written)
	r.written = append(r.written, dataplanes)
	r.t.Logf("write state %d, with %d dataplanes", number, dataplanes)
	var err error
	for limit := time.Now().Add(90 * time.Second); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) {
		if err = r.place.write(number, dataplanes); err == nil {
			return
		}
	}
	r.t.Errorf("state %d cannot be written: %v", number, err)
}

// size chooses the number of dataplanes of a state.
func (r *run) size() int {
	if !r.place.mixed() && r.random.IntN(3) == 0 {
		return 150 // more than one transaction
	}
	return 3
}

// ofReplicas are the faults of replicas.
func (r *run) ofReplicas() []fault {
	replica := r.replicas[r.random.IntN(len(r.replicas))]
	return []fault{
		{"pause " + replica.name, func(testing.TB) func() { replica.pause(); return replica.resume }},
		{"kill " + replica.name, func(testing.TB) func() { replica.kill(); return replica.start }},
		{"fill the disk of " + replica.name, func(testing.TB) func() { return replica.fill() }},
		{"fill the disk of " + replica.name + ", and kill it", func(testing.TB) func() {
			end := replica.fill()
			return func() { replica.kill(); end(); replica.start() }
		}},
	}
}

// step makes a fault, writes meanwhile, and ends it. Half of the faults begin during a write.
func (r *run) step() {
	faults := append(r.place.faults(), r.ofReplicas()...)
	f := faults[r.random.IntN(len(faults))]
	size, during := r.size(), r.random.IntN(2) == 0
	before := time.Duration(r.random.IntN(30)) * time.Millisecond
	lasts := time.Duration(r.random.IntN(700)) * time.Millisecond
	end := func() {}
	begin := func() {
		r.t.Logf("fault: %s", f.name)
		end = f.begin(r.t)
	}
	if !during {
		begin()
	}
	var writing sync.WaitGroup
	writing.Go(func() { r.write(size) })
	if during {
		time.Sleep(before)
		begin()
	}
	time.Sleep(lasts)
	r.t.Logf("end: %s", f.name)
	end()
	writing.Wait()
}

const steps = 6

func (r *run) run() {
	for range steps {
		r.step()
	}
	r.write(3)
	r.ends()
	close(r.stop)
	r.watching.Wait()
	for _, s := range r.subscribers {
		s.stop()
		r.check(s)
	}
}

// ends waits until each subscriber holds the last state, and compares what they hold.
func (r *run) ends() {
	r.t.Helper()
	last := len(r.written) - 1
	for _, s := range r.subscribers {
		state := ""
		holds := func() bool {
			cluster, err := r.written.cluster(s.held(wire.ClusterType, clusterName))
			endpoints, other := r.written.endpoints(s.held(wire.EndpointType, endpointsName), r.place.mixed())
			state = fmt.Sprintf("the cluster is of state %d (%v), the endpoints are of state %d (%v)", cluster, err, endpoints, other)
			return err == nil && other == nil && cluster == last && endpoints == last
		}
		for limit := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(limit) {
				r.t.Fatalf("%s does not end at state %d: %s", s.name, last, state)
			}
		}
	}
	for _, s := range r.subscribers[1:] {
		if a, b := r.subscribers[0].all(), s.all(); a != b && !r.t.Failed() {
			r.t.Errorf("%s holds\n%s\nand %s\n%s", r.subscribers[0].name, a, s.name, b)
		}
	}
	for _, replica := range r.replicas {
		eventually(r.t, replica.name+" is connected", func() bool { s := replica.status(); return s != nil && s.Store.Connected })
	}
}

// check checks all that a subscriber ever got. No resource of one replica goes back, even
// over a restart, unless the replica began without the store.
func (r *run) check(s *subscriber) {
	r.t.Helper()
	newest := map[wire.Type]int{}
	for _, stream := range s.responses() {
		for _, response := range stream {
			for _, h := range response.Resources {
				number, err := r.written.resource(h.Type, h.Name, h.Body, r.place.mixed())
				if err != nil {
					r.t.Errorf("%s got what no revision had: %v", s.name, err)
				}
				if number > 0 && len(s.replicas) == 1 && number < newest[h.Type] && !s.replicas[0].beganWithoutStore() {
					r.t.Errorf("%s got a resource of state %d after one of state %d", s.name, number, newest[h.Type])
				}
				if number > 0 {
					newest[h.Type] = max(newest[h.Type], number)
				}
			}
		}
	}
	if len(newest) < 2 {
		r.t.Errorf("%s got nothing", s.name)
	}
}
