package serving

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
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

// wide lets the proxy have more requests at a time than Envoy's default of 1,024.
const wide = `{type: MeshCircuitBreaker, name: wide, spec: {from: [{targetRef: {kind: Mesh}, default: {
  connectionLimits: {maxConnections: 10000, maxPendingRequests: 10000, maxRequests: 10000}}}]}}
`

// An edit of HTTP permissions closes no connection and changes no listener. Open streams go
// on, and the next request on each open connection is decided by the edit (SPEC 11.8).
//
// Half of the streams have connections of HTTP/1 of their own, the others share some of
// HTTP/2. The next requests are sent on the latter, and on further connections of HTTP/1.
func TestEditsOfPermissionsCloseNothing(t *testing.T) {
	envoytest.Path(t)
	const streams, edits = 1000, 100
	for name, protocol := range map[string]corev3.ApiConfigSource_ApiType{
		"delta": corev3.ApiConfigSource_DELTA_GRPC, "state of the world": corev3.ApiConfigSource_GRPC,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, map[string]string{"guarded.yaml": guarded, "wide.yaml": wide, "access.yaml": accessWithout(0)})
			app := startStreamer(t, m.network.Replace("127.0.0.1:10080"))
			server := m.serve(firstReplica)
			proxy := m.startProxy("guarded", protocol, firstReplica, "127.0.0.201:9901")
			server.waitConverged(1)

			var clients []*connection // of the next requests
			newClient := func(http2 bool) *connection {
				c := newConnection(m.network.Replace("127.0.0.1:10000"), http2)
				t.Cleanup(c.client.CloseIdleConnections)
				return c
			}
			var open []*stream
			for i := range streams / 2 {
				open = append(open, newClient(false).open(t))
				if i%streamsEach == 0 {
					clients = append(clients, newClient(false), newClient(true))
				}
				open = append(open, clients[len(clients)-1].open(t))
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
			t.Logf("%d streams, %d edits; the slowest edit decides after %v", streams, edits, slowest)
			close(app.end)
			for i, s := range open {
				if err := s.rest(); err != nil {
					t.Errorf("stream %d: %v", i, err)
				}
			}
			stats, err := proxy.Get("/stats?filter=listener_manager.listener_modified|http.inbound.downstream_cx_destroy_local$|http.inbound.downstream_rq_(rx|tx)_reset$|http_filter.permission.*config_reload$")
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
			if !strings.Contains(stats, "downstream_rq_rx_reset: 0\n") || !strings.Contains(stats, "downstream_rq_tx_reset: 0\n") {
				t.Errorf("edits reset streams:\n%s", stats)
			}
			if !strings.Contains(stats, fmt.Sprintf("config_reload: %d\n", edits+1)) {
				t.Errorf("want %d configs of the filter:\n%s", edits+1, stats)
			}
		})
	}
}

// streamsEach is the number of streams on each connection of HTTP/2.
const streamsEach = 50

// A streamer is a workload. It sends the first half of the answer to /stream at once, and the
// second half at the end.
type streamer struct{ end chan struct{} }

const firstHalf, secondHalf = "begin ", "end"

func startStreamer(t *testing.T, address string) *streamer {
	t.Helper()
	s := &streamer{make(chan struct{})}
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/stream" {
			return
		}
		_, _ = io.WriteString(w, firstHalf)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-s.end:
			_, _ = io.WriteString(w, secondHalf)
		case <-r.Context().Done():
		}
	})}
	go func() { _ = h.Serve(l) }()
	t.Cleanup(func() { _ = h.Close() })
	return s
}

// A stream is a request whose answer has begun.
type stream struct{ body io.ReadCloser }

// open opens a stream.
func (c *connection) open(t *testing.T) *stream {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+c.host+"/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.client.Transport.RoundTrip(request) // without the timeout of the client
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	begin := make([]byte, len(firstHalf))
	if _, err := io.ReadFull(response.Body, begin); err != nil || string(begin) != firstHalf {
		t.Fatalf("a stream begins with %q, status %d: %v", begin, response.StatusCode, err)
	}
	return &stream{response.Body}
}

// rest reads the second half of the answer.
func (s *stream) rest() error {
	rest, err := io.ReadAll(s.body)
	if err == nil && string(rest) != secondHalf {
		return fmt.Errorf("it ends with %q", rest)
	}
	return err
}

// A connection is a client that keeps one connection open as long as its server does.
type connection struct {
	client *http.Client
	host   string
	err    error // of the last request
}

func newConnection(address string, http2 bool) *connection {
	protocols := &http.Protocols{}
	protocols.SetHTTP1(!http2)
	protocols.SetUnencryptedHTTP2(http2)
	return &connection{host: address, client: &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		MaxConnsPerHost: 1, Protocols: protocols,
	}}}
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
