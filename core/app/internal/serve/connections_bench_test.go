package serve_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
)

// BenchmarkStreamConnections serves dataplanes over real connections with mutual TLS, each
// with one delta stream of four types and a certificate of its own. The clients are another
// process, on the same processors. An iteration is a storm: all connections break at once,
// and each client connects again at once, and has all resources.
//
//	rss-KiB/conn   resident memory at rest, beyond that after the last connection; both after a
//	               garbage collection, which an idle server makes every two minutes
//	heap-KiB/conn  live heap and stacks, in the same way
//	storm-ms       from the break until the last client has all resources, the slowest one
//	peak           the highest resident memory in a storm, relative to that before it
//	cpu-us/conn    processor time of the server in a storm
//	retries        connections that failed in storms
func BenchmarkStreamConnections(b *testing.B) {
	if _, err := memoryOf("VmRSS"); err != nil {
		b.Skip("resident memory is read from /proc: ", err)
	}
	for text := range strings.SplitSeq(*streamsFlag, ",") {
		connections, err := strconv.Atoi(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run("connections="+text, func(b *testing.B) { benchmarkConnections(b, connections) })
	}
}

func benchmarkConnections(b *testing.B, connections int) {
	c := newCredentials(b)
	r := &running{t: b, dir: b.TempDir(), log: &serve.LockedBuffer{}, real: true}
	set := &resource.Set{}
	for i := range connections {
		set.Dataplanes = append(set.Dataplanes, shape.Dataplane(i, 2))
	}
	dataplanes, err := shape.JSON(set)
	if err != nil {
		b.Fatal(err)
	}
	r.write("dataplanes.json", string(dataplanes))
	r.write("identity.yaml", "{type: MeshIdentity, name: identity, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Spire, spire: {}}}}")
	r.run(func(o *serve.Options) { o.TLS = c.files() })
	clients := startFleet(b, c, r.XDSAddr().String(), set.Dataplanes)

	goroutines := runtime.NumGoroutine()
	clients.all("connect")
	var slowest time.Duration
	var peak float64
	retries := 0
	cpu := usage.CPU()
	b.ResetTimer()
	for range b.N {
		before := mustMemoryOf(b, "VmRSS")
		resetPeak(b)
		begin := time.Now()
		retries += clients.all("break")
		slowest = max(slowest, time.Since(begin))
		peak = max(peak, float64(mustMemoryOf(b, "VmHWM"))/float64(before))
	}
	b.StopTimer()
	cpu = usage.CPU() - cpu
	rss, heap := restingMemory(b)
	clients.all("close")
	r.eventually("the end of all connections", func() bool { return runtime.NumGoroutine() <= goroutines })
	rssWithout, heapWithout := restingMemory(b)
	rss, heap = rss-rssWithout, heap-heapWithout
	b.ReportMetric(float64(rss)/1024/float64(connections), "rss-KiB/conn")
	b.ReportMetric(float64(heap)/1024/float64(connections), "heap-KiB/conn")
	b.ReportMetric(float64(slowest.Milliseconds()), "storm-ms")
	b.ReportMetric(peak, "peak")
	b.ReportMetric(float64(cpu.Microseconds())/float64(b.N*connections), "cpu-us/conn")
	b.ReportMetric(float64(retries), "retries")
	if err := r.stop(); err != nil {
		b.Error(err)
	}
}

// restingMemory collects garbage, and returns the resident memory, and the size of the live
// heap and of all stacks.
func restingMemory(b *testing.B) (rss, heap uint64) {
	b.Helper()
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return mustMemoryOf(b, "VmRSS"), m.HeapAlloc + m.StackInuse
}

// memoryOf returns a size in bytes of this process, from /proc.
func memoryOf(key string) (uint64, error) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, err
	}
	_, after, ok := strings.Cut(string(status), key+":")
	if !ok {
		return 0, fmt.Errorf("there is no %s", key)
	}
	size, err := strconv.ParseUint(strings.Fields(after)[0], 10, 64)
	return size << 10, err
}

func mustMemoryOf(b *testing.B, key string) uint64 {
	b.Helper()
	size, err := memoryOf(key)
	if err != nil {
		b.Fatal(err)
	}
	return size
}

// resetPeak makes VmHWM begin anew.
func resetPeak(b *testing.B) {
	b.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
		b.Fatal(err)
	}
}

// clientFleet is the process of the clients.
type clientFleet struct {
	b       *testing.B
	in      io.Writer
	answers *bufio.Scanner
}

func startFleet(b *testing.B, c *credentialsOf, address string, dataplanes []*resource.Dataplane) *clientFleet {
	b.Helper()
	f := fleet{Address: address}
	for _, o := range dataplanes[0].Outbounds {
		f.Names = append(f.Names, variant.Destination{Mesh: shape.Mesh, Tags: o.Tags}.Name())
	}
	for _, d := range dataplanes {
		svid, err := c.authority.Issue("spiffe://"+shape.Mesh+".mesh.local/dataplane/"+d.Name, time.Hour, time.Now())
		if err != nil {
			b.Fatal(err)
		}
		f.Clients = append(f.Clients, fleetMember{Node: d.KRI(""), Certificate: svid.Certificates, Key: svid.Key})
	}
	content, err := json.Marshal(f)
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "fleet.json")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		b.Fatal(err)
	}
	process := exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^TestFleetProcess$")
	process.Env = append(os.Environ(), fleetVariable+"="+path)
	process.Stderr = os.Stderr
	in, err := process.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := process.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := process.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = process.Wait()
	})
	return &clientFleet{b: b, in: in, answers: bufio.NewScanner(out)}
}

// all has all clients do a command, waits for them, and returns how often they retried.
func (f *clientFleet) all(command string) (retries int) {
	f.b.Helper()
	if _, err := fmt.Fprintln(f.in, command); err != nil {
		f.b.Fatal(err)
	}
	if !f.answers.Scan() {
		f.b.Fatalf("the clients have ended: %v", f.answers.Err())
	}
	if _, err := fmt.Sscanf(f.answers.Text(), "done %d", &retries); err != nil {
		f.b.Fatal(f.answers.Text())
	}
	return retries
}
