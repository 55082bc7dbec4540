package replicas

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes/kubetest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/sourcetest"
	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The figures of SPEC 14.4, which bench/README.md lists. SOAK=1 measures them:
//
//	SOAK=1 make e2e-stores
//
// They depend on the machine, so nothing fails if they are bad.
func soak(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("SOAK=1 measures figures")
	}
}

// The fleet of the figures.
const (
	fleetDataplanes = 100_000
	fleetPolicies   = 10_000
)

// fleet calls visit for each document of the fleet.
func fleet(t *testing.T, visit func(id resource.ID, document []byte)) {
	t.Helper()
	const chunk = 1000
	each := func(set *resource.Set, ids func(i int) resource.ID) {
		text, err := shape.JSON(set)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
			visit(ids(i), line)
		}
	}
	for from := 0; from < fleetDataplanes; from += chunk {
		set := &resource.Set{}
		for j := from; j < from+chunk; j++ {
			set.Dataplanes = append(set.Dataplanes, shape.Dataplane(j, 10))
		}
		each(set, func(i int) resource.ID { return set.Dataplanes[i].ID })
	}
	all := shape.Fleet(meshtimeout.Kind(), fleetPolicies)
	for from := 0; from < len(all); from += chunk {
		set := &resource.Set{Policies: all[from : from+chunk]}
		each(set, func(i int) resource.ID { return set.Policies[i].ID })
	}
}

// fill writes keys to an etcd, some in one transaction.
func fill(t *testing.T, url string, write func(put func(key, value string))) {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var operations []clientv3.Op
	flush := func() {
		if _, err := c.Txn(context.Background()).Then(operations...).Commit(); err != nil {
			t.Fatal(err)
		}
		operations = nil
	}
	write(func(key, value string) {
		if operations = append(operations, clientv3.OpPut(key, value)); len(operations) == 100 {
			flush()
		}
	})
	flush()
}

// TestFigureOfLoading measures processor time and memory until a replica serves the fleet.
func TestFigureOfLoading(t *testing.T) {
	soak(t)
	network, err := envoytest.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	defer network.Close()
	t.Run("etcd", func(t *testing.T) {
		server := etcdtest.Start(t)
		size := 0
		fill(t, "http://"+server.Address(), func(put func(key, value string)) {
			fleet(t, func(id resource.ID, document []byte) {
				put("mesh/"+etcd.Key(id), string(document))
				size += len(document)
			})
		})
		t.Logf("documents: %d MB", size>>20)
		for range 3 {
			load(t, newReplica(t, network, 0, nil, "-f", server.URL("mesh")))
		}
	})
	t.Run("Kubernetes", func(t *testing.T) {
		cluster := kubetest.Start(t)
		cluster.InstallLoose(kinds.All())
		cluster.StopServer() // it reads what is written to its etcd when it starts
		fill(t, cluster.Etcd(), func(put func(key, value string)) {
			fleet(t, func(id resource.ID, document []byte) {
				key, value := registered(t, document)
				put(key, value)
			})
		})
		cluster.StartServer()
		for range 3 {
			load(t, newReplica(t, network, 0, []string{"KUBECONFIG=" + cluster.Kubeconfig}, "-f", "k8s://"))
		}
	})
}

// registered returns the key and the value of an object in the etcd of an API server.
func registered(t *testing.T, document []byte) (key, value string) {
	t.Helper()
	o, err := kubetest.FromDocument(document)
	if err != nil {
		t.Fatal(err)
	}
	m := o["metadata"].(map[string]any)
	m["uid"], m["creationTimestamp"], m["generation"] = fmt.Sprintf("00000000-0000-4000-8000-%012x", hashOf(document)), "2026-01-01T00:00:00Z", 1
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	collection := strings.Split(o.Collection(), "/") // /apis/GROUP/VERSION/namespaces/NAMESPACE/PLURAL
	return fmt.Sprintf("/registry/%s/%s/%s/%s", collection[2], collection[6], collection[5], m["name"]), string(text)
}

func hashOf(document []byte) (h uint64) {
	for _, b := range document {
		h = h*31 + uint64(b)
	}
	return h & 0xffff_ffff_ffff
}

// load waits until a replica is ready, logs what it took, and kills it.
func load(t *testing.T, r *replica) {
	t.Helper()
	defer r.kill()
	begin := time.Now()
	r.ready()
	wall, cpu := time.Since(begin), r.cpu()
	peak := r.memory("VmHWM")
	held := peak // the smallest size: first free memory is given back, then the state is saved
	for range 400 {
		held = min(held, r.memory("VmRSS"))
		time.Sleep(20 * time.Millisecond)
	}
	t.Logf("first served state after %.1f s of processor time (%.1f s on the clock); resident memory: highest %d MB, held %d MB (%.2f)",
		cpu.Seconds(), wall.Seconds(), peak>>20, held>>20, float64(peak)/float64(held))
	if s := r.status(); s == nil || len(s.Store.Invalid) > 0 {
		t.Errorf("the status is %+v", s)
	}
}

// cpu returns the processor time of the process.
func (r *replica) cpu() time.Duration { return cpuOf(r.t, r.process.Process.Pid) }

func cpuOf(t testing.TB, process int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(text, []byte(") "))
	fields := strings.Fields(string(rest))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	const tick = 10 * time.Millisecond
	return time.Duration(user+system) * tick
}

// memory returns a size of the process in bytes, such as VmHWM.
func (r *replica) memory(name string) int {
	r.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", r.process.Process.Pid))
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, name+":"); found {
			kilobytes, _ := strconv.Atoi(strings.Fields(value)[0])
			return kilobytes << 10
		}
	}
	return 0
}

// TestFigureOfApply measures the time from the begin of a write of one policy to the
// moment when the last of 10 or 1,000 clients has it, and the same of the command `apply`.
func TestFigureOfApply(t *testing.T) {
	soak(t)
	for _, clients := range []int{10, 1000} {
		t.Run(fmt.Sprint(clients), func(t *testing.T) { figureOfApply(t, clients) })
	}
}

func figureOfApply(t *testing.T, clients int) {
	const rounds = 30
	w := startWorld(t, clients)
	w.clients(t, clients)
	var writes, commands []time.Duration
	server, own := w.replica.cpu(), cpuOf(t, os.Getpid())
	for number := 1; number <= 2*rounds; number++ {
		d := timeout(number)
		begin := time.Now()
		if number%2 == 0 {
			command(t, d.Universal(), "apply", "-f", "-", "--to", w.server.URL("mesh"))
		} else if _, err := w.etcd.Put(t.Context(), "mesh/"+etcd.Key(id(&d)), d.Universal()); err != nil {
			t.Fatal(err)
		}
		eventually(t, "all clients have the policy", func() bool { return w.arrived(number) == clients })
		if took := w.last(number).Sub(begin); number%2 == 0 {
			commands = append(commands, took)
		} else {
			writes = append(writes, took)
		}
	}
	t.Logf("%d clients, one policy, until the last client has it: write of the key %s; command apply, with the start of its process %s; processor time for each policy: replica %v, clients %v",
		clients, quantiles(writes), quantiles(commands), (w.replica.cpu()-server)/(2*rounds), (cpuOf(t, os.Getpid())-own)/(2*rounds))
}

// TestFigureOfFollowing measures how old the state of a replica is while 1,000 dataplanes
// a second are written.
func TestFigureOfFollowing(t *testing.T) {
	soak(t)
	const dataplanes, rate, lasts = 1000, 1000, 10 * time.Second
	w := startWorld(t, dataplanes)
	w.clients(t, 10)
	var ages []time.Duration
	var written atomic.Int64
	ctx, stop := context.WithTimeout(t.Context(), lasts)
	defer stop()
	var writers sync.WaitGroup
	const parallel = 10
	for i := range parallel {
		writers.Go(func() {
			tick := time.NewTicker(parallel * time.Second / rate)
			defer tick.Stop()
			for n := i; ; n += parallel {
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
				d := w.dataplane(n%dataplanes, n/dataplanes+2)
				if _, err := w.etcd.Put(t.Context(), "mesh/"+etcd.Key(id(&d)), d.Universal()); err != nil {
					t.Error(err)
					return
				}
				written.Add(1)
			}
		})
	}
	before := w.replica.cpu()
	for ctx.Err() == nil {
		time.Sleep(100 * time.Millisecond)
		response, err := w.etcd.Get(t.Context(), "mesh/-")
		if err != nil {
			t.Fatal(err)
		}
		// How long the replica takes to serve what the store has now, which includes its
		// own confirmations.
		begin := time.Now()
		for int64(w.replica.revision()) < response.Header.Revision {
			time.Sleep(time.Millisecond)
		}
		ages = append(ages, time.Since(begin))
	}
	writers.Wait()
	cpu := w.replica.cpu() - before
	t.Logf("%d changes in %v: a change is served after %s; processor time %.1f ms a second", written.Load(), lasts, quantiles(ages), float64(cpu.Milliseconds())/lasts.Seconds())
}

// TestFigureOfReplicas kills one of three replicas with 1,000 clients each, and measures
// when all clients have the next state, and what they were sent.
func TestFigureOfReplicas(t *testing.T) {
	soak(t)
	const clients = 3000
	w := startWorld(t, clients)
	replicas := []*replica{w.replica}
	for i := 1; i < 3; i++ {
		r := newReplica(t, w.network, i, nil, "-f", w.server.URL("mesh"))
		r.ready()
		replicas = append(replicas, r)
	}
	w.startClients(t, clients, replicas...)
	sent := w.resources.Load()
	begin := time.Now()
	replicas[1].kill()
	d := timeout(1)
	if _, err := w.etcd.Put(t.Context(), "mesh/"+etcd.Key(id(&d)), d.Universal()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all clients have the policy", func() bool { return w.arrived(1) == clients })
	time.Sleep(time.Second) // for more that may be sent
	// A cluster that changes may be followed by its endpoints.
	got := w.resources.Load() - sent
	if got > 2*clients {
		t.Errorf("%d clients were sent %d resources: more than a cluster and its endpoints", clients, got)
	}
	t.Logf("a third of %d clients moved; all have the next state after %v; all were sent %d resources, of %d clusters that changed and their endpoints",
		clients, w.last(1).Sub(begin).Round(time.Millisecond), got, clients)
}

// bigWorld is an etcd with dataplanes that call one service, and a replica of it.
type bigWorld struct {
	server  *etcdtest.Server
	etcd    *clientv3.Client
	replica *replica
	network *envoytest.Network

	resources atomic.Int64 // that clients were sent
	mu        sync.Mutex
	have      map[int]int       // clients that have the policy of a number
	when      map[int]time.Time // the last one of them got it
}

func startWorld(t *testing.T, dataplanes int) *bigWorld {
	t.Helper()
	network, err := envoytest.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	server := etcdtest.Start(t)
	w := &bigWorld{server: server, network: network, etcd: server.Client(), have: map[int]int{}, when: map[int]time.Time{}}
	t.Cleanup(func() { w.etcd.Close() })
	fill(t, "http://"+server.Address(), func(put func(key, value string)) {
		for i := range dataplanes {
			d := w.dataplane(i, 1)
			put("mesh/"+etcd.Key(id(&d)), d.Universal())
		}
		d := dataplane(1, 0)
		put("mesh/"+etcd.Key(id(&d)), d.Universal())
	})
	w.replica = newReplica(t, network, 0, nil, "-f", server.URL("mesh"))
	w.replica.ready()
	return w
}

// dataplane returns dataplane i with an address of its version.
func (w *bigWorld) dataplane(i, version int) sourcetest.Document {
	return sourcetest.Document{Kind: "Dataplane", Name: fmt.Sprintf("c%04d", i), Spec: fmt.Sprintf(`{"networking": {"address": "10.%d.%d.%d",
		"inbound": [{"port": 8080, "servicePort": 80, "tags": {"kuma.io/service": "client"}}], "outbound": [{"port": 10001, "tags": {"kuma.io/service": "web"}}]}}`,
		version, i/250, i%250+1)}
}

// clients starts clients of the first dataplanes at the first replica.
func (w *bigWorld) clients(t *testing.T, n int) { w.startClients(t, n, w.replica) }

// startClients starts clients, which connect to replicas in turn, and waits until all have resources.
func (w *bigWorld) startClients(t *testing.T, n int, replicas ...*replica) {
	t.Helper()
	for i := range n {
		s := &subscriber{node: fmt.Sprintf("kri_dp_default___c%04d_", i), got: func(h xdstest.Held) { w.got(h) }}
		for j := range replicas {
			s.replicas = append(s.replicas, replicas[(i+j)%len(replicas)])
		}
		s.start(t)
	}
	eventually(t, "all clients have resources", func() bool { return w.arrived(0) == n })
}

// got records a resource of a client. Before any policy it has the timeout number 0.
func (w *bigWorld) got(h xdstest.Held) {
	w.resources.Add(1)
	if h.Type != wire.ClusterType || h.Name != clusterName {
		return
	}
	var c clusterv3.Cluster
	if proto.Unmarshal([]byte(h.Body), &c) != nil {
		return
	}
	number := int(c.GetConnectTimeout().AsDuration().Milliseconds())
	if number >= 5000 {
		number = 0 // the default
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.have[number]++
	w.when[number] = time.Now()
}

func (w *bigWorld) arrived(number int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.have[number]
}

func (w *bigWorld) last(number int) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.when[number]
}

// quantiles describes durations.
func quantiles(all []time.Duration) string {
	slices.Sort(all)
	at := func(percent int) time.Duration { return all[(len(all)-1)*percent/100].Round(time.Millisecond) }
	return fmt.Sprintf("p50 %v, p90 %v, longest %v", at(50), at(90), at(100))
}
