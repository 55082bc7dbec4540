package serving

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/xds/e2e/envoytest"
)

// guarded is a dataplane with an HTTP/1 inbound; access to it is edited.
const guarded = `
{type: Dataplane, name: guarded, networking: {address: 127.0.0.1,
  inbound: [{port: 10000, serviceAddress: 127.0.0.1, servicePort: 10080, protocol: http, tags: {kuma.io/service: guarded}}]}}
`

// accessWithout returns permissions to all paths but /N, so that each edit has another N.
func accessWithout(n int) string {
	return fmt.Sprintf(`{type: MeshTrafficPermission, name: all, spec: {rules: [{default: {
  allow: [{path: {type: Prefix, value: /}}], deny: [{path: {type: Exact, value: /%d}}]}}]}}`, n)
}

// An edit of HTTP permissions closes no connection and changes no listener, and decides
// the next request on each open connection (SPEC 11.8).
func TestEditsOfPermissionsCloseNothing(t *testing.T) {
	envoytest.Path(t)
	connections, edits := 100, 20
	if os.Getenv("SOAK") != "" {
		connections, edits = 1000, 100
	}
	for name, protocol := range map[string]corev3.ApiConfigSource_ApiType{
		"delta": corev3.ApiConfigSource_DELTA_GRPC, "state of the world": corev3.ApiConfigSource_GRPC,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, map[string]string{"guarded.yaml": guarded, "access.yaml": accessWithout(0)})
			m.startApp("guarded", "127.0.0.1:10080")
			server := m.serve(firstReplica)
			proxy := m.startProxy("guarded", protocol, firstReplica, "127.0.0.201:9901")
			server.waitConverged(1)

			clients := make([]*connection, connections)
			for i := range clients {
				clients[i] = newConnection(m.network.Replace("127.0.0.1:10000"))
				t.Cleanup(clients[i].client.CloseIdleConnections)
			}
			expect(t, clients, "/0", http.StatusForbidden)
			var slowest time.Duration
			for n := 1; n <= edits; n++ {
				begin := time.Now()
				m.write("access.yaml", accessWithout(n))
				eventually(t, "the edit decides", func() bool { return clients[0].status("/"+fmt.Sprint(n)) == http.StatusForbidden })
				slowest = max(slowest, time.Since(begin))
				expect(t, clients, "/"+fmt.Sprint(n), http.StatusForbidden)
				expect(t, clients, "/"+fmt.Sprint(n-1), http.StatusOK)
			}
			t.Logf("%d connections, %d edits; the slowest edit decides after %v", connections, edits, slowest)
			stats, err := proxy.Get("/stats?filter=listener_manager.listener_modified|http.inbound.downstream_cx_destroy_local$|http_filter.permission.*config_reload$")
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(stats, "listener_manager.listener_modified: 0\n") {
				t.Errorf("edits change the listener:\n%s", stats)
			}
			// A client of Go closes a connection now and then by itself.
			if !strings.Contains(stats, "downstream_cx_destroy_local: 0\n") {
				t.Errorf("edits close connections:\n%s", stats)
			}
			if !strings.Contains(stats, fmt.Sprintf("config_reload: %d\n", edits+1)) {
				t.Errorf("want %d configs of the filter:\n%s", edits+1, stats)
			}
		})
	}
}

// A connection is a client that keeps one connection open as long as its server does.
type connection struct {
	client *http.Client
	host   string
	err    error // of the last request
}

func newConnection(address string) *connection {
	c := &connection{host: address}
	c.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		MaxConnsPerHost: 1,
	}}
	return c
}

// status returns the status of an answer, 0 if there is none.
func (c *connection) status(path string) int {
	response, err := c.client.Get("http://" + c.host + path)
	if c.err = err; err != nil {
		return 0
	}
	defer response.Body.Close()
	if _, c.err = io.Copy(io.Discard, response.Body); c.err != nil {
		return 0
	}
	if response.Close {
		c.err = errors.New("the proxy is about to close the connection")
		return 0
	}
	return response.StatusCode
}

// expect sends a request on each connection.
func expect(t *testing.T, clients []*connection, path string, want int) {
	t.Helper()
	var wait sync.WaitGroup
	for i, c := range clients {
		wait.Go(func() {
			if got := c.status(path); got != want {
				t.Errorf("client %d: %s is answered with %d, want %d: %v", i, path, got, want, c.err)
			}
		})
	}
	wait.Wait()
}
