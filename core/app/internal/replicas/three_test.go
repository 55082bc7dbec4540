package replicas

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/app/internal/source/kubernetes/kubetest"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// store is a store whose documents are edited while it and its replicas are killed.
type store struct {
	address   string
	variables []string
	node      func(name string) string
	apply     func(document string)
	kill      func()
	restart   func()
}

// With three replicas behind a balancer, each of them and the store are killed in turn
// while documents are edited. No request through two Envoys fails, each edit arrives, and
// Envoy changes nothing that was not edited.
func TestThreeReplicas(t *testing.T) {
	envoytest.Path(t)
	t.Run("etcd", func(t *testing.T) {
		server := etcdtest.Start(t)
		s := &store{
			address: server.URL("demo"), kill: server.Kill, restart: server.Restart,
			node: func(name string) string { return "kri_dp_default___" + name + "_" },
		}
		s.apply = func(document string) { command(t, document, "apply", "-f", "-", "--to", s.address) }
		testReplicas(t, s)
	})
	t.Run("Kubernetes", func(t *testing.T) {
		cluster := kubetest.Start(t)
		cluster.Install(kinds.All())
		testReplicas(t, &store{
			address: "k8s://", variables: []string{"KUBECONFIG=" + cluster.Kubeconfig}, kill: cluster.StopServer, restart: cluster.StartServer,
			node: func(name string) string { return "kri_dp_default__default_" + name + "_" },
			apply: func(document string) {
				o, err := kubetest.FromDocument([]byte(document))
				if err != nil {
					t.Fatal(err)
				}
				cluster.Apply(o)
			},
		})
	})
}

// command runs a command with an input.
func command(t *testing.T, input string, arguments ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, arguments...)
	c.Env, c.Stdin = append(os.Environ(), commandVariable+"=1"), strings.NewReader(input)
	if output, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", arguments, err, output)
	}
}

const (
	webDataplane = `{"type": "Dataplane", "mesh": "default", "name": "web", "networking": {"address": "127.0.0.1",
		"inbound": [{"port": 10000, "serviceAddress": "127.0.0.1", "servicePort": 10080, "tags": {"kuma.io/service": "web", "kuma.io/protocol": "http"}}],
		"outbound": [{"address": "127.0.0.1", "port": 10001, "tags": {"kuma.io/service": "backend"}}]}}`
	backendDataplane = `{"type": "Dataplane", "mesh": "default", "name": "backend", "networking": {"address": "127.0.0.11",
		"inbound": [{"port": 10000, "serviceAddress": "127.0.0.11", "servicePort": 10080, "tags": {"kuma.io/service": "backend", "kuma.io/protocol": "http"}}]}}`
	allowAll = `{"type": "MeshTrafficPermission", "mesh": "default", "name": "all", "spec": {"from": [{"targetRef": {"kind": "Mesh"}, "default": {"action": "Allow"}}]}}`
)

// version adds a header with a version to the answers of backend.
func version(version string) string {
	return fmt.Sprintf(`{"type": "MeshHTTPRoute", "mesh": "default", "name": "versions", "spec": {"targetRef": {"kind": "Mesh"},
		"to": [{"targetRef": {"kind": "MeshService", "name": "backend"}, "rules": [{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}],
			"default": {"filters": [{"type": "ResponseHeaderModifier", "responseHeaderModifier": {"set": [{"name": "x-version", "value": %q}]}}]}}]}]}}`, version)
}

func testReplicas(t *testing.T, s *store) {
	network, err := envoytest.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	for _, document := range []string{webDataplane, backendDataplane, allowAll, version("first")} {
		s.apply(network.Replace(document))
	}
	var replicas []*replica
	for i := range 3 {
		r := newReplica(t, network, i, s.variables, "-f", s.address, "--max-connection-age", "4s")
		r.ready()
		replicas = append(replicas, r)
	}
	balancer := balance(t, network.Replace("127.0.0.250:5678"), replicas)
	app, err := envoytest.NewApp("backend", network.Replace("127.0.0.11:10080"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = app.Close() })
	proxies := map[string]*envoytest.Proxy{}
	for name, admin := range map[string]string{"web": "127.0.0.201:9901", "backend": "127.0.0.202:9901"} {
		proxies[name] = startEnvoy(t, s.node(name), balancer.address(), network.Replace(admin))
	}
	r := &requests{t: t, url: network.Replace("http://127.0.0.1:10001/")}
	eventually(t, "an answer", func() bool { return r.once() == nil })
	stop := r.start()
	defer stop()
	r.sees("first")
	before := map[string]counts{}
	for name, p := range proxies {
		before[name] = countsOf(t, p)
	}

	for i, replica := range replicas {
		replica.kill()
		edit := fmt.Sprintf("without-replica-%d", i+1)
		s.apply(version(edit))
		r.sees(edit)
		replica.start()
		replica.ready()
	}
	s.kill()
	for _, replica := range replicas {
		eventually(t, replica.name+" reports the loss", func() bool { status := replica.status(); return status != nil && !status.Store.Connected })
	}
	replicas[0].kill() // without the store, a replica serves what it has kept
	replicas[0].start()
	replicas[0].ready()
	r.more(20)
	s.restart()
	s.apply(version("after-the-store"))
	r.sees("after-the-store")
	balancer.cut() // to other replicas
	s.apply(version("last"))
	r.sees("last")
	for _, replica := range replicas {
		eventually(t, replica.name+" is connected", func() bool { status := replica.status(); return status != nil && status.Store.Connected })
	}
	stop()
	for name, p := range proxies {
		if after := countsOf(t, p); after != before[name] {
			t.Errorf("Envoy %s has changed more than was edited: %+v, before %+v", name, after, before[name])
		}
	}
	t.Logf("%d requests, none failed; %d connections of the proxies", r.answers.Load(), balancer.connections.Load())
}

// counts are what Envoy counts when something other than routes changes, or fails.
type counts struct{ added, modified, removed, clusters, rejected int }

func countsOf(t *testing.T, p *envoytest.Proxy) counts {
	t.Helper()
	text, err := p.Get("/stats")
	if err != nil {
		t.Fatal(err)
	}
	of := func(names ...string) (sum int) {
		for line := range strings.Lines(text) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			for _, suffix := range names {
				if n, err := strconv.Atoi(value); err == nil && strings.HasSuffix(name, suffix) {
					sum += n
				}
			}
		}
		return sum
	}
	return counts{
		of("listener_manager.listener_added"), of("listener_manager.listener_modified"), of("listener_manager.listener_removed"),
		of("cluster_manager.cluster_added", "cluster_manager.cluster_modified", "cluster_manager.cluster_removed"), of(".update_rejected"),
	}
}

// startEnvoy starts the Envoy of a node.
func startEnvoy(t *testing.T, node, server, admin string) *envoytest.Proxy {
	t.Helper()
	at := netip.MustParseAddrPort(server)
	d := &resource.Dataplane{}
	b := bootstrap.ADS(d, nil, bootstrap.Server{Host: at.Addr().String(), Port: at.Port()}, bootstrap.Options{Admin: netip.MustParseAddrPort(admin)})
	b.Node.Id = node
	config, err := message.JSON(b)
	if err != nil {
		t.Fatal(err)
	}
	return envoytest.Start(t, node, config)
}

// requests are sent without a pause, and each must be answered by 200.
type requests struct {
	t       *testing.T
	url     string
	answers atomic.Int64
	version atomic.Value // the header x-version of the last answer
}

func (r *requests) once() error {
	response, err := http.Get(r.url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err = io.Copy(io.Discard, response.Body); err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", response.StatusCode)
	}
	if err == nil {
		r.version.Store(response.Header.Get("x-version"))
		r.answers.Add(1)
	}
	return err
}

func (r *requests) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			for ctx.Err() == nil {
				if err := r.once(); err != nil {
					r.t.Errorf("a request failed: %v", err)
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	r.t.Cleanup(stop)
	return stop
}

// sees waits until answers have a version.
func (r *requests) sees(version string) {
	r.t.Helper()
	eventually(r.t, "answers have the version "+version, func() bool { return r.version.Load() == version })
}

// more waits until more requests were answered.
func (r *requests) more(n int64) {
	r.t.Helper()
	until := r.answers.Load() + n
	eventually(r.t, "more answers", func() bool { return r.answers.Load() >= until })
}

// balancer passes connections on to replicas in turn: to the next one that accepts it.
type balancer struct {
	listener    net.Listener
	connections atomic.Int64

	mu   sync.Mutex
	open map[net.Conn]bool
}

func balance(t *testing.T, address string, replicas []*replica) *balancer {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	b := &balancer{listener: l, open: map[net.Conn]bool{}}
	t.Cleanup(func() { l.Close(); b.cut() })
	go func() {
		for next := 0; ; next++ {
			from, err := l.Accept()
			if err != nil {
				return
			}
			var to net.Conn
			for i := range replicas {
				if to, err = net.DialTimeout("tcp", replicas[(next+i)%len(replicas)].xds, time.Second); err == nil {
					break
				}
			}
			if err != nil {
				from.Close()
				continue
			}
			b.connections.Add(1)
			b.pass(from, to)
			b.pass(to, from)
		}
	}()
	return b
}

func (b *balancer) address() string { return b.listener.Addr().String() }

// pass copies from one connection to another until one of them ends.
func (b *balancer) pass(from, to net.Conn) {
	b.mu.Lock()
	b.open[from] = true
	b.mu.Unlock()
	go func() {
		_, _ = io.Copy(to, from)
		from.Close()
		to.Close()
		b.mu.Lock()
		delete(b.open, from)
		b.mu.Unlock()
	}()
}

// cut ends all connections.
func (b *balancer) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for conn := range b.open {
		conn.Close()
	}
}
