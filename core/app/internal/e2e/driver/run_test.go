package driver

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/service/accesslog/v3"
	"github.com/envoyproxy/go-control-plane/pkg/test/resource/v3"
	testv3 "github.com/envoyproxy/go-control-plane/pkg/test/v3"
	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// The defaults of the driver.
const (
	clusters      = 4
	httpListeners = 2
	tcpListeners  = 2
	extensions    = 1
	batches       = 5 // after each version
)

// versions is how many versions there are; the driver has three.
const versions = 6

// TestDriver is `make integration.ads integration.ads.delta` of go-control-plane, without
// and with -tls.
func TestDriver(t *testing.T) {
	envoytest.Path(t)
	for _, mode := range []string{resource.Ads, resource.DeltaAds} {
		for _, tls := range []bool{false, true} {
			for _, server := range servers {
				t.Run(fmt.Sprintf("%s/tls=%t/%s", mode, tls, server.name), func(t *testing.T) {
					t.Parallel()
					publisher, address := server.serve(t, mode)
					drive(t, mode, tls, server.strict, publisher, address)
				})
			}
		}
	}
}

// A run is an Envoy, and the versions that a server publishes to it.
type run struct {
	*testing.T
	snapshots resource.TestSnapshot
	publisher publisher
	proxy     *envoytest.Proxy
}

// start publishes a first version and starts the Envoy.
func start(t *testing.T, mode string, tls bool, publisher publisher, address net.Addr) *run {
	r := &run{T: t, publisher: publisher, snapshots: resource.TestSnapshot{
		Xds: mode, TLS: tls, BasePort: freePorts(t),
		NumClusters: clusters, NumHTTPListeners: httpListeners, NumTCPListeners: tcpListeners, NumExtension: extensions,
	}}
	r.publish(0)
	r.proxy = envoytest.Start(t, "driver", bootstrap(t, mode, address, accessLogs(t)))
	return r
}

// publish publishes a version with an upstream of its own.
func (r *run) publish(version int) {
	r.Helper()
	r.snapshots.Version = fmt.Sprintf("v%d", version)
	r.snapshots.UpstreamPort = upstream(r.T, r.snapshots.Version)
	r.publisher.publish(r.T, r.snapshots.Generate())
}

// ports returns the ports of listeners, which are numbered in the order HTTP, HTTP with scoped
// routes, TCP.
func (r *run) ports(listeners ...uint32) []uint32 {
	for i := range listeners {
		listeners[i] += r.snapshots.BasePort
	}
	return listeners
}

// arrives waits until requests to all listeners reach the upstream of the newest version.
func (r *run) arrives(sent *requests) {
	r.Helper()
	eventually(r.T, func() error {
		if !sent.agree(r.snapshots.Version, batches) {
			return fmt.Errorf("not all listeners reach the upstream of %s: %s\n%s", r.snapshots.Version, sent, r.proxy.Log())
		}
		return nil
	})
}

// drive publishes the versions one after the other, with requests through an Envoy.
func drive(t *testing.T, mode string, tls, strict bool, publisher publisher, address net.Addr) {
	r := start(t, mode, tls, publisher, address)
	sent := send(t, tls, r.ports(0, 1, 2, 3))
	r.arrives(sent)
	sent.take() // the first of them were too early

	requests, failures := 0, 0
	for version := 1; version < versions; version++ {
		r.publish(version)
		r.arrives(sent)
		number, failed := sent.take()
		requests += number
		for listener, errs := range failed {
			failures += len(errs)
			if strict && len(errs) > 1 {
				t.Errorf("the update to %s made %d requests to listener %d fail: %v", r.snapshots.Version, len(errs), listener, errs)
			}
		}
		if strict {
			eventually(t, func() error { return onlyVersion(r.proxy, r.snapshots.Version) })
			r.nothingRejected()
		}
	}
	t.Logf("%d of %d requests failed while there were %d updates", failures, requests, versions-1)
}

// Scoped routes are a type that the server of this module does not serve. Envoy waits 15 s for
// them, and then has a listener without routes. Nothing else waits: the other listeners of the
// same update are there at once.
func TestScopedRoutesAreNotServed(t *testing.T) {
	envoytest.Path(t)
	for _, mode := range []string{resource.Ads, resource.DeltaAds} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			publisher, address := serveMeshmatch(t, mode)
			r := start(t, mode, false, publisher, address)
			r.arrives(send(t, false, r.ports(0, 1, 2, 3)))

			r.snapshots.NumScopedHTTPListeners = 2 // the listeners 2 and 3
			r.publish(1)
			r.arrives(send(t, false, r.ports(0, 1, 4, 5)))
			r.nothingRejected()
		})
	}
}

// versioned matches the names of clusters and routes.
var versioned = regexp.MustCompile(`\b(?:cluster|route)-(v\d+)-\d+`)

// onlyVersion fails if Envoy has clusters or routes of another version.
func onlyVersion(proxy *envoytest.Proxy, version string) error {
	dump, err := proxy.Get("/config_dump?include_eds")
	if err != nil {
		return err
	}
	found := map[string]bool{}
	for _, match := range versioned.FindAllStringSubmatch(dump, -1) {
		found[match[1]] = true
	}
	if !found[version] || len(found) > 1 {
		return fmt.Errorf("Envoy has the versions %v, instead of %s only", found, version)
	}
	return nil
}

// nothingRejected fails if Envoy has rejected an update.
func (r *run) nothingRejected() {
	r.Helper()
	stats, err := r.proxy.Get("/stats?filter=update_rejected")
	if err != nil {
		r.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(stats), "\n")
	if len(lines) < 2 { // the lines of CDS and LDS
		r.Errorf("there are no statistics of rejected updates: %q", stats)
	}
	rejected := slices.DeleteFunc(lines, func(line string) bool { return strings.HasSuffix(line, ": 0") })
	if len(rejected) > 0 {
		r.Errorf("Envoy rejected an update of %s: %s", r.snapshots.Version, rejected)
	}
}

// upstream starts a workload that answers with its name, and returns its port.
func upstream(t *testing.T, name string) uint32 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, name) // the client may be gone
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return uint32(l.Addr().(*net.TCPAddr).Port)
}

// accessLogs serves the access log service of go-control-plane.
func accessLogs(t *testing.T) net.Addr {
	t.Helper()
	g := grpc.NewServer()
	accesslogv3.RegisterAccessLogServiceServer(g, &testv3.AccessLogService{})
	return listen(t, g)
}

// blocks counts the blocks of ports that this process has tried. No two runs try the same one.
var blocks atomic.Uint32

// freePorts returns the first of 16 ports of 127.0.0.1 in a row that are free. They are
// below those that the system chooses. The resources of the driver have no other address.
func freePorts(t *testing.T) uint32 {
	t.Helper()
	for range 700 {
		base := 20000 + (os.Getpid()*8+int(blocks.Add(1)))%700*16
		if free(base, 16) {
			return uint32(base)
		}
	}
	t.Fatal("there are no free ports")
	return 0
}

func free(base, number int) bool {
	for port := base; port < base+number; port++ {
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			return false
		}
		defer l.Close()
	}
	return true
}

// eventually waits until check succeeds.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	limit := envoytest.Limit(t)
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-limit.Done():
			t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
