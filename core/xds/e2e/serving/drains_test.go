package serving

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/effect"
	"github.com/meshmatch/meshmatch/core/xds/e2e/envoytest"
)

// parts is a dataplane with an inbound and an outbound of each protocol. The workloads behind
// its outbounds have no proxy, so that nothing else closes a connection.
const parts = `
{type: Dataplane, name: parts, networking: {address: 127.0.0.1,
  inbound: [{port: 10000, serviceAddress: 127.0.0.1, servicePort: 10080, tags: {kuma.io/service: own-http, kuma.io/protocol: http}},
    {port: 10001, serviceAddress: 127.0.0.1, servicePort: 10081, tags: {kuma.io/service: own-tcp, kuma.io/protocol: tcp}}],
  outbound: [{port: 10002, address: 127.0.0.1, tags: {kuma.io/service: web}}, {port: 10003, address: 127.0.0.1, tags: {kuma.io/service: store}}]}}
---
{type: Dataplane, name: others, networking: {address: 127.0.0.2,
  inbound: [{port: 10090, tags: {kuma.io/service: web, kuma.io/protocol: http}}, {port: 10091, tags: {kuma.io/service: store, kuma.io/protocol: tcp}}]}}
---
{type: MeshTrafficPermission, name: all, spec: {from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]}}
`

// partAddresses are the addresses of the listeners of parts.
var partAddresses = map[effect.Part]string{
	effect.HTTPInbound: "127.0.0.1:10000", effect.TCPInbound: "127.0.0.1:10001",
	effect.HTTPOutbound: "127.0.0.1:10002", effect.TCPOutbound: "127.0.0.1:10003",
}

// Specs with a conf in the arrays of a kind.
func to(conf string) string    { return "{to: [{targetRef: {kind: Mesh}, default: " + conf + "}]}" }
func rules(conf string) string { return "{rules: [{default: " + conf + "}]}" }
func both(conf string) string {
	return "{to: [{targetRef: {kind: Mesh}, default: " + conf + "}], rules: [{default: " + conf + "}]}"
}

// rowEdits has an edit for each row of the table of package effect: $ is replaced by the one
// text, then by the other.
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
	"MeshLoadBalancingStrategy /localityAwareness":                  {to(`{localityAwareness: {disabled: $}}`), "true", "false"},

	"MeshMetric":      {`{default: {sidecar: {includeUnused: $}, backends: [{type: Prometheus, prometheus: {port: 10099, path: /metrics}}]}}`, "true", "false"},
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

	"MeshTrafficPermission": {`{from: [{targetRef: {kind: Mesh}, default: {action: $}}]}`, "Allow", "AllowWithShadowDeny"},
}

// Each row of the table is true of a real Envoy: an edit of the field closes the open
// connections of exactly those parts whose listener it changes (SPEC 11.8). MeshTLS is not
// among them: its clients need certificates, and all of its rows are of listeners.
func TestTableOfDrains(t *testing.T) {
	envoytest.Path(t)
	t.Parallel()
	m := newMesh(t, map[string]string{"parts.yaml": parts, "row.yaml": "# none\n"})
	for _, address := range []string{"127.0.0.1:10080", "127.0.0.1:10081", "127.0.0.2:10090", "127.0.0.2:10091"} {
		m.startApp("app", address)
	}
	server := m.serve(firstReplica)
	proxy := m.startProxy("parts", corev3.ApiConfigSource_DELTA_GRPC, firstReplica, "127.0.0.201:9901")
	server.waitConverged(1)
	loads := func() int { return strings.Count(server.log.String(), "the files were loaded again") }
	edit := func(name, content string) {
		t.Helper()
		before := loads()
		m.write("row.yaml", content)
		eventually(t, name+" is loaded", func() bool { return loads() > before })
		server.waitConverged(1)
	}
	modified := func() string {
		stats, err := proxy.Get("/stats?filter=^listener_manager.listener_modified$")
		if err != nil {
			t.Fatal(err)
		}
		return stats
	}
	for _, row := range effect.Table() {
		name := strings.TrimSpace(row.Kind + " " + row.Field)
		sample, known := rowEdits[name]
		if !known {
			if row.Kind != "MeshTLS" {
				t.Errorf("there is no edit of %s", name)
			}
			continue
		}
		policy := func(value string) string {
			return fmt.Sprintf("{type: %s, name: row, spec: %s}\n", row.Kind, strings.ReplaceAll(sample.spec, "$", value))
		}
		edit(name, policy(sample.before))
		open := map[effect.Part]*keptConnection{}
		for part, address := range partAddresses {
			open[part] = newKeptConnection(t, m.network.Replace(address))
		}
		before, drains := modified(), false
		edit(name, policy(sample.after))
		for part, c := range open {
			if row.Changes[part].Drain() {
				drains = true
				if err := c.waitClosed(); err != nil {
					t.Errorf("%s: a connection of a %s stays, though its listener changes: %v", name, part, err)
				}
			}
		}
		for part, c := range open {
			if err := c.get(); !row.Changes[part].Drain() && err != nil {
				t.Errorf("%s: a connection of a %s is closed, though its listener does not change: %v", name, part, err)
			}
			c.close()
		}
		if after := modified(); !drains && !row.Changes[effect.Proxy].Drain() && after != before {
			t.Errorf("%s modifies a listener: %swas %s", name, after, before)
		}
	}
}

// keptConnection is a connection of HTTP/1.1 that stays open between requests.
type keptConnection struct {
	net.Conn
	reader *bufio.Reader
}

// newKeptConnection connects, and sends a request.
func newKeptConnection(t *testing.T, address string) *keptConnection {
	t.Helper()
	c := &keptConnection{}
	eventually(t, address+" answers", func() bool { // after an edit a cluster may be warming
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return false
		}
		c.Conn, c.reader = conn, bufio.NewReader(conn)
		if err := c.get(); err != nil {
			c.close()
			return false
		}
		return true
	})
	return c
}

func (c *keptConnection) close() { _ = c.Conn.Close() }

// get sends a request. It fails if the connection is closed or about to be.
func (c *keptConnection) get() error {
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
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

// waitClosed waits until the server closes the connection.
func (c *keptConnection) waitClosed() error {
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	if b, err := c.reader.ReadByte(); err != io.EOF && !strings.Contains(fmt.Sprint(err), "reset") {
		return fmt.Errorf("read %q, %v", b, err)
	}
	return nil
}
