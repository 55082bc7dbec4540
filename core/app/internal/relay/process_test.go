package relay_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core/app/internal/relay"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The servers of [BenchmarkStreamRelayProcess] are processes of their own, so that what each
// of them costs is measured alone. A process is this test binary with partVariable set to a
// part in JSON. It answers each line of its standard input by a report, and the start by one
// too:
//
//	change NAME I TEXT  give variant I of a name of the upstream another content
//	report              do nothing
//	memory              collect garbage first
//	end                 stop as after SIGTERM
const partVariable = "MESHMATCH_RELAY_PART"

// A part is what a process does.
type part struct {
	// Role is upstream, relay, or bare: a server of gRPC that answers the first request of a
	// stream and then holds it, with the same options.
	Role     string
	Address  string // to listen at
	Upstream string // of a relay
	State    string // of a relay
	// Contents are the variants of the names of an upstream.
	Contents map[string][]string
}

// A report is what a process has done since its start.
type report struct {
	Address       string
	CPU           time.Duration
	Memory        uint64 // live heap, and stacks
	Streams       int64
	Subscriptions int64
	Pushes        int64
	PushBytes     int64
	Received      int64 // bytes of responses of the upstream
}

// TestPart is the process.
func TestPart(t *testing.T) {
	text := os.Getenv(partVariable)
	if text == "" {
		t.Skip("it is the process of a benchmark")
	}
	var p part
	must(t, json.Unmarshal([]byte(text), &p))
	listener, err := net.Listen("tcp", p.Address)
	must(t, err)
	source := &processSource{}
	source.publish(p.Contents)
	options := server.Options{Source: source}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var r *relay.Relay
	if p.Role == "relay" {
		r, err = relay.New(relay.Options{
			Upstreams: []relay.Upstream{{Address: p.Upstream, Options: []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}}},
			State:     p.State,
		})
		must(t, err)
		options.Source = r
	}
	ads := server.New(options)
	g := grpc.NewServer(ads.GRPCOptions(nil)...)
	if p.Role == "bare" {
		discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, bare{})
	} else {
		ads.Register(g)
		running.Go(func() { ads.Run(ctx) })
	}
	if r != nil {
		running.Go(func() { r.Run(ctx, ads) })
	}
	running.Go(func() { _ = g.Serve(listener) })

	report := func() {
		made := report{Address: listener.Addr().String(), CPU: usage.CPU()}
		for i := range ads.Counters().Streams {
			made.Streams += ads.Counters().Streams[i].Load()
		}
		made.Subscriptions = ads.Counters().Subscriptions[wire.ClusterType].Load()
		made.Pushes, made.PushBytes = ads.Counters().Pushes[wire.ClusterType].Load(), ads.Counters().PushBytes[wire.ClusterType].Load()
		if r != nil {
			made.Received = r.Counters().Bytes.Load()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		made.Memory = m.HeapAlloc + m.StackInuse
		out, err := json.Marshal(made)
		must(t, err)
		fmt.Println(string(out))
	}
	report()
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); report() {
		command := strings.SplitN(lines.Text(), " ", 4)
		switch command[0] {
		case "change":
			var i int
			_, err := fmt.Sscan(command[2], &i)
			must(t, err)
			source.change(command[1], i, command[3])
		case "memory":
			runtime.GC() // twice: what a pool holds is dropped by the second one
			runtime.GC()
			debug.FreeOSMemory()
		case "end":
			cancel()
			g.Stop()
			running.Wait()
		}
	}
	cancel()
	g.Stop()
}

// A processSource publishes names in variants that are chosen by one parameter, at no cost.
type processSource struct{ current atomic.Pointer[processState] }

type processState struct {
	names      map[string][]wire.Variant
	superseded chan struct{}
}

// publish publishes contents.
func (s *processSource) publish(contents map[string][]string) {
	next := &processState{names: map[string][]wire.Variant{}, superseded: make(chan struct{})}
	for name, list := range contents {
		for i, content := range list {
			r := xdstest.Resource(wire.ClusterType, name, content)
			next.names[name] = append(next.names[name], xdstest.Variant(r, equal("env", fmt.Sprint(i))))
		}
	}
	if before := s.current.Swap(next); before != nil {
		close(before.superseded)
	}
}

// change publishes another content of one variant.
func (s *processSource) change(name string, i int, content string) {
	before := s.current.Load()
	next := &processState{names: maps.Clone(before.names), superseded: make(chan struct{})}
	next.names[name] = slices.Clone(next.names[name])
	next.names[name][i].Resource = xdstest.Resource(wire.ClusterType, name, content)
	s.current.Store(next)
	close(before.superseded)
}

func (s *processSource) Current() (server.State, <-chan struct{}) {
	state := s.current.Load()
	return state, state.superseded
}

func (s *processState) Node(*server.Node) (*wire.Snapshot, bool) { return nil, false }

func (s *processState) Locate(_ *server.Node, _ wire.Type, name string, p map[string]string) (wire.Variant, bool) {
	i, err := strconv.Atoi(p["env"])
	if err != nil || i >= len(s.names[name]) {
		return wire.Variant{}, false
	}
	return s.names[name][i], true
}

// bare is a service that does nothing but hold streams.
type bare struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
}

func (bare) DeltaAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	m := &discoveryv3.DeltaDiscoveryResponse{TypeUrl: wire.ClusterType.URL(), Nonce: "1", Resources: []*discoveryv3.Resource{{}}}
	for first := true; ; first = false {
		if _, err := stream.Recv(); err != nil {
			return err
		}
		if first {
			if err := stream.Send(m); err != nil {
				return err
			}
		}
	}
}

// A process runs a part.
type process struct {
	b       *testing.B
	part    part
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	address string
	changes int // so far
}

// start starts a process, which ends with the benchmark.
func (p part) start(b *testing.B) *process {
	b.Helper()
	text, err := json.Marshal(p)
	must(b, err)
	c := exec.Command(os.Args[0], "-test.run", "^TestPart$")
	c.Env = append(os.Environ(), partVariable+"="+string(text))
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	must(b, err)
	out, err := c.StdoutPipe()
	must(b, err)
	must(b, c.Start())
	made := &process{b: b, part: p, command: c, in: in, out: bufio.NewScanner(out)}
	b.Cleanup(made.kill)
	made.address = made.answer().Address
	made.part.Address = made.address
	return made
}

// do sends a command, and returns the report.
func (p *process) do(format string, values ...any) report {
	p.b.Helper()
	_, err := fmt.Fprintf(p.in, format+"\n", values...)
	must(p.b, err)
	return p.answer()
}

func (p *process) answer() (r report) {
	p.b.Helper()
	if !p.out.Scan() {
		p.b.Fatalf("the %s has ended: %v", p.part.Role, p.out.Err())
	}
	must(p.b, json.Unmarshal(p.out.Bytes(), &r))
	return r
}

// until waits until a condition on reports holds.
func (p *process) until(holds func(report) bool) report {
	p.b.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(5 * time.Millisecond) {
		r := p.do("report")
		if holds(r) {
			return r
		}
		if time.Now().After(end) {
			p.b.Fatalf("the %s does not get there: %+v", p.part.Role, r)
		}
	}
}

// kill ends the process as a crash does.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	_ = p.command.Wait()
}
