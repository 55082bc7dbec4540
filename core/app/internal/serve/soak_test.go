package serve_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// TestSoak edits the files of two replicas at random: policies of all kinds,
// dataplanes, identities, placements, and files with errors. Meanwhile clients of both
// protocols subscribe by name, wildcard and locator, reject resources, stop reading,
// reconnect and restart at either replica, and replicas restart. After each round the
// files have no errors. Each client then holds exactly the resources that `meshmatch
// snapshot` prints, and those that its locators select. In the end no goroutine is left,
// and the heap is about as large as after the second round.
//
// It takes about two seconds, or as long as SOAK_TIME, such as 10m, with another seed
// each time. SOAK_SEED repeats a run.
func TestSoak(t *testing.T) {
	duration, seed := time.Second, uint64(1)
	if text := os.Getenv("SOAK_TIME"); text != "" {
		var err error
		if duration, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		seed = uint64(time.Now().UnixNano())
	}
	if text := os.Getenv("SOAK_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	before := runtime.NumGoroutine()
	s := newSoak(t, seed)
	var early float64
	begin := time.Now()
	for rounds := 0; time.Since(begin) < duration || rounds < 2; rounds++ {
		s.round()
		heap := usage.Heap()
		if rounds == 1 {
			early = heap
		}
		t.Logf("%s: round %d; %d steps; %d documents; the heap is %d KiB, with %d goroutines",
			time.Since(begin).Round(time.Millisecond), rounds+1, s.steps, len(s.files.documents), int(heap)>>10, runtime.NumGoroutine())
		if heap > 2*early+16<<20 && rounds > 1 {
			t.Errorf("the heap has grown from %d KiB to %d KiB", int(early)>>10, int(heap)>>10)
		}
		if t.Failed() {
			break
		}
	}
	s.end()
	for limit := envoytest.Limit(t); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if limit.Err() != nil {
			text := make([]byte, 1<<20)
			t.Fatalf("%d goroutines are left:\n%s", runtime.NumGoroutine()-before, text[:runtime.Stack(text, true)])
		}
	}
}

// soak is a run of TestSoak.
type soak struct {
	t        *testing.T
	rand     *rand.Rand
	files    *soakFiles
	replicas [2]*soakReplica
	clients  []*soakClient
	steps    int
	mend     func() // removes the file with errors; nil: there is none

	// What clients may ask for: names by type, and parameters.
	names      [wire.NumTypes][]string
	parameters []variant.Parameters
}

type soakReplica struct {
	running
	state string // the directory of its keys
	conn  *grpc.ClientConn
}

type soakClient struct {
	*xdstest.Actor
	replica *soakReplica
}

func newSoak(t *testing.T, seed uint64) *soak {
	random := rand.New(rand.NewPCG(seed, 5))
	s := &soak{t: t, rand: random, files: newSoakFiles(t, random)}
	for i := range s.replicas {
		s.replicas[i] = &soakReplica{running: running{t: t, dir: s.files.dir, real: true}, state: t.TempDir()}
		s.replicas[i].start()
	}
	s.learn()
	for i := range 24 {
		options := xdstest.Options{StateOfTheWorld: i%2 == 1, Forget: true, Reject: func(r xdstest.Held) string {
			if strings.Contains(r.Body, rejected) || strings.Contains(r.Body, rejectedAddress) {
				return "the test rejects it"
			}
			return ""
		}}
		id := soakNode(pick(random, soakNames))
		switch i % 8 {
		case 0, 1: // no node: locators
			id = ""
		case 2:
			id = soakNode("unknown")
		}
		if id != "" {
			program := soakPrograms[i%len(soakPrograms)]
			options.Node = &corev3.Node{Id: id, UserAgentName: program.name,
				UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: program.version}}
		}
		replica := pick(random, s.replicas[:])
		actor, err := xdstest.NewActor(replica.conn, options)
		s.must(err)
		s.clients = append(s.clients, &soakClient{actor, replica})
	}
	return s
}

// start starts the replica.
func (r *soakReplica) start() {
	r.log = &serve.LockedBuffer{}
	r.run(func(o *serve.Options) { o.State = r.state })
	var err error
	r.conn, err = grpc.NewClient(r.XDSAddr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		r.t.Fatal(err)
	}
}

// end ends the replica.
func (r *soakReplica) end() error {
	err := r.stop()
	r.conn.Close()
	return err
}

// learn reads from the current files what clients may ask for.
func (s *soak) learn() {
	e := s.files.expected()
	s.parameters = []variant.Parameters{{}}
	for i := range s.names {
		s.names[i] = []string{"gone"}
	}
	for _, d := range e.view.Dataplanes("default") {
		for i := range max(1, len(d.Inbounds)) {
			s.parameters = append(s.parameters, variant.ParametersOf(d, i))
		}
		snapshot := e.state.Snapshot(d, xds.Envoy)
		for t := range wire.Type(wire.NumTypes) {
			for _, r := range slices.Concat(snapshot.Resources(t), snapshot.API()) {
				if r.Type == t && !slices.Contains(s.names[t], r.Name) {
					s.names[t] = append(s.names[t], r.Name)
				}
			}
		}
	}
}

// round does many random steps, and then checks what clients hold.
func (s *soak) round() {
	for range 150 {
		s.step()
		s.steps++
	}
	if s.mend != nil {
		s.mend()
		s.mend = nil
	}
	s.files.settle()
	s.check()
	s.learn()
}

func (s *soak) step() {
	c := pick(s.rand, s.clients)
	switch s.rand.IntN(24) {
	case 0, 1, 2, 3, 4, 5:
		s.files.edit()
	case 6:
		if s.mend == nil {
			s.mend = s.files.bad()
		} else {
			s.mend()
			s.mend = nil
		}
	case 7, 8:
		c.replica = pick(s.rand, s.replicas[:])
		s.must(c.Reconnect(c.replica.conn))
	case 9:
		c.replica = pick(s.rand, s.replicas[:])
		s.must(c.Restart(c.replica.conn))
	case 10, 11:
		c.FreezeOrThaw()
	case 12:
		if _, err := s.files.load(); err == nil && s.mend == nil && s.rand.IntN(4) == 0 {
			s.restart(pick(s.rand, s.replicas[:]))
		}
	case 13, 14, 15:
		time.Sleep(time.Duration(s.rand.IntN(40)) * time.Millisecond)
	default:
		t := wire.Type(s.rand.IntN(wire.NumTypes))
		s.must(c.Ask(s.rand, t, pick(s.rand, s.names[t]), pick(s.rand, s.parameters)))
	}
}

// restart ends a replica. Its clients resume at its successor or at the other replica.
func (s *soak) restart(r *soakReplica) {
	s.must(r.end())
	r.start()
	for _, c := range s.clients {
		if c.replica == r {
			c.replica = pick(s.rand, s.replicas[:])
			s.must(c.Reconnect(c.replica.conn))
		}
	}
}

// check compares what the clients hold with the files.
func (s *soak) check() {
	expected := s.files.expected()
	ctx := envoytest.Limit(s.t)
	for _, c := range s.clients {
		c.Thaw()
	}
	for i, c := range s.clients {
		c.Wait(ctx, func() bool { return len(c.Differences(expected)) == 0 })
		for _, d := range c.Differences(expected) {
			s.t.Errorf("client %d (%s): %s\nits last messages:\n%sthe log of its replica:\n%s", i, c, d, c.Recent(), c.replica.log)
		}
		if err := c.Err(); err != nil {
			s.t.Errorf("client %d: %v", i, err)
		}
	}
	for _, r := range s.replicas {
		r.log.Reset()
	}
}

// end ends all clients and replicas.
func (s *soak) end() {
	for _, c := range s.clients {
		c.Close()
	}
	for _, r := range s.replicas {
		s.must(r.end())
	}
}

func (s *soak) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(fmt.Errorf("step %d: %w", s.steps, err))
	}
}
