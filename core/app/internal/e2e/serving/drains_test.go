package serving

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/effect"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// parts has a dataplane with an inbound and an outbound of each protocol, and a listener of
// metrics. The workloads behind its outbounds have no proxy, so that nothing else closes a
// connection. The dataplane transparent has the listeners of passthrough. No rule of the kernel
// redirects connections to them, so a patch makes them read the original destination from a
// PROXY line, and listen on the address of the dataplane alone.
const parts = `
{type: Dataplane, name: parts, labels: {permitted: first, all: permitted}, networking: {address: 127.0.0.1,
  inbound: [{port: 10000, serviceAddress: 127.0.0.1, servicePort: 10080, tags: {kuma.io/service: own-http, kuma.io/protocol: http}},
    {port: 10001, serviceAddress: 127.0.0.1, servicePort: 10081, tags: {kuma.io/service: own-tcp, kuma.io/protocol: tcp}}],
  outbound: [{port: 10002, address: 127.0.0.1, tags: {kuma.io/service: web}}, {port: 10003, address: 127.0.0.1, tags: {kuma.io/service: store}},
    {port: 10004, address: 127.0.0.1, tags: {kuma.io/service: calls}}]}}
---
{type: Dataplane, name: others, networking: {address: 127.0.0.2,
  inbound: [{port: 10090, tags: {kuma.io/service: web, kuma.io/protocol: http}}, {port: 10091, tags: {kuma.io/service: store, kuma.io/protocol: tcp}},
    {port: 10092, tags: {kuma.io/service: calls, kuma.io/protocol: grpc}}]}}
---
{type: Dataplane, name: transparent, labels: {all: permitted, redirects: proxy-lines}, networking: {address: 127.0.0.3,
  transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001},
  inbound: [{port: 10000, tags: {kuma.io/service: transparent, kuma.io/protocol: http}}]}}
---
{type: MeshTrafficPermission, name: first, spec: {targetRef: {kind: Dataplane, labels: {permitted: first}}, from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}}
---
{type: MeshMetric, name: metrics, spec: {targetRef: {kind: Dataplane, labels: {permitted: first}}, default: {backends: [{type: Prometheus, prometheus: {port: 10099, path: /}}]}}}
---
{type: MeshProxyPatch, name: proxy-lines, labels: {meshmatch.io/weakens-permissions: "true"}, spec: {targetRef: {kind: Dataplane, labels: {redirects: proxy-lines}}, default: {appendModifications: [
  {listener: {operation: Patch, match: {origin: transparent}, jsonPatches: [{op: replace, path: /address/socketAddress/address, value: 127.0.0.3},
    {op: replace, path: /listenerFilters/0, value: {name: envoy.filters.listener.proxy_protocol,
      typedConfig: {"@type": type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol}}}]}}]}}}
`

// A link is a connection that is open while a field is edited.
type link struct {
	proxy    string // the dataplane
	part     effect.Area
	listener string // of the part proxy
	address  string
	original string // the destination that the client had before it was redirected
	stream   bool
}

func (l link) String() string {
	switch {
	case l.stream:
		return "the stream of the " + l.part.String()
	case l.listener != "":
		return "the connection of " + l.listener
	}
	return "the connection of the " + l.part.String()
}

// links has one to each listener, and a stream through each one of HTTP.
var links = []link{
	{"parts", effect.HTTPInbound, "", "127.0.0.1:10000", "", false},
	{"parts", effect.HTTPInbound, "", "127.0.0.1:10000", "", true},
	{"parts", effect.TCPInbound, "", "127.0.0.1:10001", "", false},
	{"parts", effect.HTTPOutbound, "", "127.0.0.1:10002", "", false},
	{"parts", effect.HTTPOutbound, "", "127.0.0.1:10002", "", true},
	{"parts", effect.HTTPOutbound, "", "127.0.0.1:10004", "", true}, // gRPC
	{"parts", effect.TCPOutbound, "", "127.0.0.1:10003", "", false},
	{"parts", effect.Proxy, "prometheus", "127.0.0.1:10099", "", false},
	{"transparent", effect.Proxy, "passthrough/inbound", "127.0.0.3:15006", "127.0.0.3:10085", false},
	{"transparent", effect.Proxy, "passthrough/outbound", "127.0.0.3:15001", "127.0.0.2:10090", false},
}

// proxyListeners are the listeners that the edit of a row changes in the part proxy.
var proxyListeners = map[string][]string{
	"MeshAccessLog":   {"passthrough/outbound"},
	"MeshMetric":      {"prometheus"},
	"MeshPassthrough": {"passthrough/outbound"},
	"MeshProxyPatch /appendModifications/*/httpFilter":    {"prometheus"},
	"MeshProxyPatch /appendModifications/*/listener":      {"prometheus", "passthrough/inbound", "passthrough/outbound"},
	"MeshProxyPatch /appendModifications/*/networkFilter": {"prometheus", "passthrough/inbound", "passthrough/outbound"},
	"MeshTrafficPermission":                               {"passthrough/inbound"}, // the first permission of transparent
}

// Specs with a conf in the arrays of a kind.
func to(conf string) string    { return "{to: [{targetRef: {kind: Mesh}, default: " + conf + "}]}" }
func rules(conf string) string { return "{rules: [{default: " + conf + "}]}" }
func both(conf string) string {
	return "{to: [{targetRef: {kind: Mesh}, default: " + conf + "}], rules: [{default: " + conf + "}]}"
}

// rowEdits has an edit for each row of the table of package effect, except the rows of MeshTLS:
// $ is replaced by the one text, then by the other.
var rowEdits = map[string]struct{ spec, before, after string }{
	"MeshAccessLog": {both(`{backends: [{type: File, file: {path: /dev/null, format: {type: Plain, plain: $}}}]}`), "x", "y"},

	"MeshCircuitBreaker /connectionLimits":             {both(`{connectionLimits: {maxConnections: $}}`), "100", "101"},
	"MeshCircuitBreaker /connectionLimits/maxRequests": {both(`{connectionLimits: {maxRequests: $}}`), "100", "101"},
	"MeshCircuitBreaker /connectionLimits/maxRetries":  {both(`{connectionLimits: {maxRetries: $}}`), "100", "101"},
	"MeshCircuitBreaker /outlierDetection":             {to(`{outlierDetection: {interval: $, detectors: {totalFailures: {consecutive: 9}}}}`), "5s", "6s"},

	"MeshFaultInjection /http":    {rules(`{http: [$]}`), "", "{abort: {httpStatus: 500, percentage: 0}}"},
	"MeshFaultInjection /http/2+": {rules(`{http: [{abort: {httpStatus: 500, percentage: 0}}, {abort: {httpStatus: 501, percentage: 0}}$]}`), "", ", {abort: {httpStatus: 502, percentage: 0}}"},

	"MeshHTTPRoute /rules": {`{to: [{targetRef: {kind: MeshService, name: web}, rules: [{matches: [{path: {type: PathPrefix, value: /$}}], default: {}}]}]}`, "a", "b"},

	"MeshHealthCheck":       {to(`{interval: $}`), "60s", "61s"},
	"MeshHealthCheck /grpc": {to(`{interval: 60s, grpc: {serviceName: $}}`), "a", "b"},
	"MeshHealthCheck /http": {to(`{interval: 60s, http: {path: /$}}`), "a", "b"},
	"MeshHealthCheck /tcp":  {to(`{interval: 60s, tcp: {send: $}}`), "YQ==", "Yg=="},

	"MeshLoadBalancingStrategy /hashPolicies":                       {to(`{loadBalancer: {type: Maglev}, hashPolicies: [$]}`), "{type: Header, header: {name: x}}", "{type: SourceIP}"},
	"MeshLoadBalancingStrategy /loadBalancer":                       {to(`{loadBalancer: {type: LeastRequest, leastRequest: {choiceCount: $}}}`), "2", "3"},
	"MeshLoadBalancingStrategy /loadBalancer/maglev/hashPolicies":   {to(`{loadBalancer: {type: Maglev, maglev: {hashPolicies: [$]}}}`), "{type: Header, header: {name: x}}", "{type: SourceIP}"},
	"MeshLoadBalancingStrategy /loadBalancer/ringHash/hashPolicies": {to(`{loadBalancer: {type: RingHash, ringHash: {hashPolicies: [$]}}}`), "{type: Header, header: {name: x}}", "{type: SourceIP}"},
	"MeshLoadBalancingStrategy /loadBalancer/type":                  {to(`{loadBalancer: {type: $}, hashPolicies: [{type: SourceIP}]}`), "RoundRobin", "Maglev"},
	"MeshLoadBalancingStrategy /localityAwareness":                  {to(`{localityAwareness: {crossZone: {failoverThreshold: {percentage: $}, failover: [{to: {type: Any}}]}}}`), "50", "60"},

	"MeshMetric":      {`{default: {sidecar: {includeUnused: $}}}`, "true", "false"},
	"MeshPassthrough": {`{default: {passthroughMode: $}}`, "All", "None"},

	"MeshProxyPatch /appendModifications/*/cluster":       {`{default: {appendModifications: [{cluster: {operation: Patch, jsonPatches: [{op: add, path: /altStatName, value: $}]}}]}}`, "x", "y"},
	"MeshProxyPatch /appendModifications/*/httpFilter":    {`{default: {appendModifications: [{httpFilter: {operation: Patch, match: {name: envoy.filters.http.router}, jsonPatches: [{op: add, path: /suppressEnvoyHeaders, value: $}]}}]}}`, "true", "false"},
	"MeshProxyPatch /appendModifications/*/listener":      {`{default: {appendModifications: [{listener: {operation: Patch, jsonPatches: [{op: add, path: /statPrefix, value: $}]}}]}}`, "x", "y"},
	"MeshProxyPatch /appendModifications/*/networkFilter": {`{default: {appendModifications: [{networkFilter: {operation: Patch, match: {name: envoy.filters.network.tcp_proxy}, jsonPatches: [{op: replace, path: /idleTimeout, value: $}]}}, {networkFilter: {operation: Patch, match: {name: envoy.filters.network.http_connection_manager}, jsonPatches: [{op: add, path: /requestTimeout, value: $}]}}]}}`, "100s", "101s"},
	"MeshProxyPatch /appendModifications/*/virtualHost":   {`{default: {appendModifications: [{virtualHost: {operation: Patch, jsonPatches: [{op: add, path: /includeRequestAttemptCount, value: $}]}}]}}`, "true", "false"},

	"MeshRateLimit /local/http": {rules(`{local: {http: {disabled: $, requestRate: {num: 1000, interval: 1s}}}}`), "true", "false"},
	"MeshRateLimit /local/tcp":  {rules(`{local: {tcp: {connectionRate: {num: $, interval: 1s}}}}`), "1000", "1001"},

	"MeshRetry /grpc":               {to(`{grpc: {numRetries: $}}`), "1", "2"},
	"MeshRetry /http":               {to(`{http: {numRetries: $}}`), "1", "2"},
	"MeshRetry /http/hostSelection": {to(`{http: {numRetries: 1, hostSelection: [$]}}`), "{predicate: OmitPreviousHosts}", "{predicate: OmitPreviousPriorities, updateFrequency: 2}"},
	"MeshRetry /tcp":                {to(`{tcp: {maxConnectAttempt: $}}`), "2", "3"},

	"MeshTCPRoute /rules": {`{to: [{targetRef: {kind: MeshService, name: store}, rules: [{default: {backendRefs: [{kind: MeshService, name: store, weight: 1}, {kind: MeshService, name: web, weight: $}]}}]}]}`, "1", "2"},

	"MeshTimeout /connectionTimeout":          {both(`{connectionTimeout: $}`), "5s", "6s"},
	"MeshTimeout /http/maxConnectionDuration": {both(`{http: {maxConnectionDuration: $}}`), "1h", "2h"},
	"MeshTimeout /http/maxStreamDuration":     {both(`{http: {maxStreamDuration: $}}`), "1h", "2h"},
	"MeshTimeout /http/requestHeadersTimeout": {both(`{http: {requestHeadersTimeout: $}}`), "1h", "2h"},
	"MeshTimeout /http/requestTimeout":        {both(`{http: {requestTimeout: $}}`), "1h", "2h"},
	"MeshTimeout /http/streamIdleTimeout":     {both(`{http: {streamIdleTimeout: $}}`), "1h", "2h"},
	"MeshTimeout /idleTimeout":                {both(`{idleTimeout: $}`), "3h", "4h"},

	"MeshTrace": {`{default: {sampling: {overall: $}, backends: [{type: Zipkin, zipkin: {url: "http://127.0.0.1:1/spans"}}]}}`, "10", "20"},

	"MeshTrafficPermission": {
		"$", `{targetRef: {kind: Dataplane, labels: {permitted: first}}, from: [{default: {action: Allow}}]}`,
		`{targetRef: {kind: Dataplane, labels: {all: permitted}}, from: [{default: {action: AllowWithShadowDeny}}]}`,
	},
}

// Each row of the table is true of a real Envoy: an edit of the field closes the open
// connections of exactly those parts whose listener it changes, and the others answer the next
// request (SPEC 11.8). The rows of MeshTLS have a mesh of their own (drains_tls_test.go). A row
// without open connections in each of its parts fails.
func TestTableOfDrains(t *testing.T) {
	envoytest.Path(t)
	t.Parallel()
	seen := verified{}
	testPlainRows(t, seen)
	testTLSRows(t, seen)
	stale := slices.Collect(maps.Keys(rowEdits))
	stale = slices.AppendSeq(stale, maps.Keys(proxyListeners))
	stale = slices.AppendSeq(stale, maps.Keys(tlsEdits))
	for _, row := range effect.Table() {
		stale = slices.DeleteFunc(stale, func(name string) bool { return name == rowName(row) })
		for part, changes := range row.Changes {
			if changes != 0 && !seen[rowName(row)][effect.Area(part)] {
				t.Errorf("%s: no connection of the %s was open during an edit: add one to this test", rowName(row), effect.Area(part))
			}
		}
	}
	if len(stale) > 0 {
		t.Errorf("the table has no rows %q: remove them from this test", stale)
	}
}

// verified has the parts in which traffic showed what a row says, by the name of the row.
type verified map[string]map[effect.Area]bool

func (v verified) add(row string, part effect.Area) {
	if v[row] == nil {
		v[row] = map[effect.Area]bool{}
	}
	v[row][part] = true
}

func rowName(row effect.Row) string { return strings.TrimSpace(row.Kind + " " + row.Field) }

// rowsOf returns the rows of MeshTLS or the others.
func rowsOf(meshTLS bool) []effect.Row {
	return slices.DeleteFunc(slices.Clone(effect.Table()), func(row effect.Row) bool { return (row.Kind == "MeshTLS") != meshTLS })
}

// A drainTest is a mesh with running proxies, in which one file is edited.
type drainTest struct {
	*mesh
	server  *replica
	proxies map[string]*envoytest.Proxy
	edited  string // the file that is edited
}

// startDrainTest starts the server of a mesh, and the proxies of dataplanes.
func startDrainTest(m *mesh, dataplanes ...string) *drainTest {
	m.t.Helper()
	d := &drainTest{mesh: m, server: m.serve(firstReplica), proxies: map[string]*envoytest.Proxy{}}
	for i, name := range dataplanes {
		d.proxies[name] = m.startProxy(name, corev3.ApiConfigSource_DELTA_GRPC, firstReplica, fmt.Sprintf("127.0.0.%d:9901", 201+i))
	}
	d.server.waitConverged(len(dataplanes))
	return d
}

// edit replaces the policy that is edited, and waits until proxies have the new one. Patches
// may change the filters that decide.
func (d *drainTest) edit(kind, spec string) {
	d.t.Helper()
	loads := func() int { return strings.Count(d.server.log.String(), "the files were loaded again") }
	before, content := loads(), fmt.Sprintf("{type: %s, name: row, labels: {meshmatch.io/weakens-permissions: \"true\"}, spec: %s}\n", kind, spec)
	if content == d.edited {
		return
	}
	d.edited = content
	d.write("row.yaml", content)
	eventually(d.t, spec+" is loaded", func() bool { return loads() > before })
	d.server.waitConverged(len(d.proxies))
	if got := d.server.metric("xds_nacks_total"); got != 0 {
		d.t.Fatalf("%s: %d NACKs", spec, got)
	}
}

// stat returns a statistic of a proxy.
func (d *drainTest) stat(proxy, name string) string {
	d.t.Helper()
	line, err := d.proxies[proxy].Get("/stats?filter=^" + name + "$")
	_, value, found := strings.Cut(strings.TrimSpace(line), name+": ")
	if err != nil || !found {
		d.t.Fatalf("%s has no %s: %q, %v", proxy, name, line, err)
	}
	return value
}

// The numbers of changed resources in statistics.
const (
	modifiedListeners = "listener_manager.listener_modified"
	modifiedClusters  = "cluster_manager.cluster_modified"
)

func testPlainRows(t *testing.T, seen verified) {
	m := newMesh(t, map[string]string{"parts.yaml": parts, "row.yaml": "# none\n"})
	for _, address := range []string{"127.0.0.1:10080", "127.0.0.1:10081", "127.0.0.2:10090", "127.0.0.2:10091", "127.0.0.2:10092", "127.0.0.3:10085"} {
		startEcho(t, m.network.Replace(address))
	}
	d := startDrainTest(m, "parts", "transparent")
	client := envoytest.Client(t)
	for _, row := range rowsOf(false) {
		name := rowName(row)
		if name == "MeshRateLimit /local/http" && !client.Has(capability.RouteRateLimits) {
			row.Changes[effect.HTTPInbound] |= effect.Listener // SPEC 18.3
		}
		sample, known := rowEdits[name]
		if !known {
			continue // it is missing in verified
		}
		d.edit(row.Kind, strings.ReplaceAll(sample.spec, "$", sample.before))
		open := make([]*keptConnection, len(links))
		for i, l := range links {
			open[i] = newKeptConnection(t, dialer(m.network.Replace(l.address), m.network.Replace(l.original)), l.stream)
		}
		before := map[string]string{}
		changed := map[string]bool{"transparent": row.Changes[effect.HTTPInbound].Drain()} // it has an HTTP inbound too
		for proxy := range d.proxies {
			before[proxy] = d.stat(proxy, modifiedListeners)
		}
		drains := func(i int) bool {
			return row.Changes[links[i].part].Drain() && (links[i].part != effect.Proxy || slices.Contains(proxyListeners[name], links[i].listener))
		}
		pushes := d.server.metric("xds_pushes_total")
		d.edit(row.Kind, strings.ReplaceAll(sample.spec, "$", sample.after))
		if d.server.metric("xds_pushes_total") == pushes {
			t.Errorf("%s: the edit changes no resource, so nothing shows what it does to connections", name)
		}
		for i, c := range open {
			if !drains(i) {
				continue
			}
			changed[links[i].proxy] = true
			if err := c.waitClosed(); err != nil {
				t.Errorf("%s: %s stays, though its listener changes: %v", name, links[i], err)
			}
			seen.add(name, links[i].part)
		}
		for i, c := range open {
			if !drains(i) {
				if err := c.next(); err != nil {
					t.Errorf("%s: %s is closed, though its listener does not change: %v", name, links[i], err)
				}
				if !row.Changes[links[i].part].Drain() {
					seen.add(name, links[i].part)
				}
			}
			c.close()
		}
		for proxy := range d.proxies {
			if after := d.stat(proxy, modifiedListeners); !changed[proxy] && after != before[proxy] {
				t.Errorf("%s modifies a listener of %s: %s, was %s", name, proxy, after, before[proxy])
			}
		}
	}
}

// startEcho starts a workload that sends back what it is sent to /echo, as soon as it has it.
func startEcho(t *testing.T, address string) {
	t.Helper()
	l, err := envoytest.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Server{Protocols: new(http.Protocols), ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/echo" {
			return
		}
		c := http.NewResponseController(w)
		if err := c.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		for b := make([]byte, 1); ; _ = c.Flush() {
			if _, err := io.ReadFull(r.Body, b); err != nil {
				return
			}
			_, _ = w.Write(b)
		}
	})}
	h.Protocols.SetHTTP1(true)
	h.Protocols.SetUnencryptedHTTP2(true)
	go func() { _ = h.Serve(l) }()
	t.Cleanup(func() { _ = h.Close() })
}

// keptConnection is a connection of HTTP/1.1 that stays open. It has requests, one at a time,
// or one stream.
type keptConnection struct {
	net.Conn
	reader *bufio.Reader
	stream bool
	echo   io.Reader // the answer of the stream, nil before it begins
}

// next sends the next request, or more of the stream. It fails if the connection is closed or
// about to be.
func (c *keptConnection) next() error {
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	if c.stream {
		return c.sendMore()
	}
	return c.get()
}

// dialer returns a function that connects to an address. If the connection looks redirected,
// original is where it was to.
func dialer(address, original string) func() (net.Conn, error) {
	return func() (net.Conn, error) {
		conn, err := net.Dial("tcp", address)
		if err != nil || original == "" {
			return conn, err
		}
		to := netip.MustParseAddrPort(original)
		_, err = fmt.Fprintf(conn, "PROXY TCP4 127.0.0.1 %s 1234 %d\r\n", to.Addr(), to.Port())
		return conn, err
	}
}

// newKeptConnection connects, and sends a request or begins a stream.
func newKeptConnection(t *testing.T, dial func() (net.Conn, error), stream bool) *keptConnection {
	t.Helper()
	c := &keptConnection{stream: stream}
	eventually(t, "a new connection answers", func() bool { // after an edit a cluster may be warming
		conn, err := dial()
		if err != nil {
			return false
		}
		c.Conn, c.reader, c.echo = conn, bufio.NewReader(conn), nil
		if err := c.next(); err != nil {
			c.close()
			return false
		}
		return true
	})
	return c
}

func (c *keptConnection) close() { _ = c.Conn.Close() }

func (c *keptConnection) get() error {
	if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		return err
	}
	response, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.Close || response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s, closes: %t", response.Status, response.Close)
	}
	return nil
}

// sendMore sends a byte on the stream, which begins with it, and waits until it is back.
func (c *keptConnection) sendMore() error {
	const chunk = "1\r\nx\r\n"
	if c.echo != nil {
		if _, err := io.WriteString(c, chunk); err != nil {
			return err
		}
	} else {
		if _, err := io.WriteString(c, "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"+chunk); err != nil {
			return err
		}
		response, err := http.ReadResponse(c.reader, nil)
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		c.echo = response.Body
	}
	_, err := io.ReadFull(c.echo, make([]byte, 1))
	return err
}

// waitClosed waits until the server closes the connection.
func (c *keptConnection) waitClosed() error {
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	// TLS may end without the message that it does.
	if _, err := io.Copy(io.Discard, c.reader); err != nil && !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return nil
}
