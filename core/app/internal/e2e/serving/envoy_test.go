package serving

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

const (
	web = `
{type: Dataplane, name: web, networking: {address: 127.0.0.1,
  inbound: [{port: 10000, serviceAddress: 127.0.0.1, servicePort: 10080, protocol: http2, tags: {kuma.io/service: web}}],
  outbound: [{address: 127.0.0.1, port: 10001, tags: {kuma.io/service: backend}}]}}
`
	backend1 = `
{type: Dataplane, name: backend-1, networking: {address: 127.0.0.11,
  inbound: [{port: 10000, serviceAddress: 127.0.0.11, servicePort: 10080, protocol: http2, tags: {kuma.io/service: backend}}]}}
`
	backend2 = `
{type: Dataplane, name: backend-2, networking: {address: 127.0.0.12,
  inbound: [{port: 10000, protocol: http2, tags: {kuma.io/service: backend}}]}}
`
	firstReplica  = "127.0.0.250:5678"
	secondReplica = "127.0.0.251:5678"
	relayAddress  = "127.0.0.252:5678"
)

func permission(action string) string {
	return fmt.Sprintf(`{type: MeshTrafficPermission, name: all, spec: {from: [{default: {action: %s}}]}}`, action)
}

// accessLog is a part of the listener of each inbound.
func accessLog(format string) string {
	return fmt.Sprintf(`{type: MeshAccessLog, name: all, spec: {from: [{default: {backends: [{type: File, file: {path: /dev/null, format: {type: Plain, plain: %s}}}]}}]}}`, format)
}

// timeouts are a part of the routes and of the cluster of each outbound.
func timeouts(request, connection time.Duration) string {
	return fmt.Sprintf(`{type: MeshTimeout, name: all, spec: {to: [{default: {connectionTimeout: %s, http: {requestTimeout: %s}}}]}}`, connection, request)
}

// versions adds a header with a version to the answers of backend.
func versions(version string) string {
	return fmt.Sprintf(`
{type: MeshHTTPRoute, name: versions, spec: {targetRef: {kind: MeshService, name: web}, to: [{targetRef: {kind: MeshService, name: backend}, rules: [
  {matches: [{path: {type: PathPrefix, value: /}}], default: {filters: [{type: ResponseHeaderModifier, responseHeaderModifier: {set: [{name: x-version, value: %s}]}}]}}]}]}}
`, version)
}

// changes are edits of files, one of each kind in turn. None of them is a reason to lose a
// request: a workload that is removed from the mesh keeps running.
var changes = []struct {
	name string
	edit func(m *mesh, round int)
}{
	{"routes", func(m *mesh, round int) { m.write("versions.yaml", versions(fmt.Sprintf("v%d", round))) }},
	{"an endpoint", func(m *mesh, round int) {
		if round%2 == 0 {
			m.remove("backend-2.yaml")
		} else {
			m.write("backend-2.yaml", backend2)
		}
	}},
	{"a timeout of routes", func(m *mesh, round int) {
		m.write("timeouts.yaml", timeouts(time.Duration(10+round)*time.Second, time.Duration(4+round)*time.Second))
	}},
	{"a permission", func(m *mesh, round int) {
		m.write("permission.yaml", permission([]string{"Allow", "AllowWithShadowDeny"}[round%2]))
	}},
	{"an access log", func(m *mesh, round int) { m.write("log.yaml", accessLog(fmt.Sprintf("v%d", round))) }},
	{"a timeout of clusters", func(m *mesh, round int) {
		m.write("timeouts.yaml", timeouts(time.Duration(10+round)*time.Second, time.Duration(5+round)*time.Second))
	}},
}

const changeInterval = 100 * time.Millisecond

// Requests through two Envoys, web and backend-1, succeed whatever happens to the
// server and its files.
func TestEnvoys(t *testing.T) {
	envoytest.Path(t)
	for _, test := range []struct {
		name     string
		protocol corev3.ApiConfigSource_ApiType
		rounds   int // of changes
	}{
		{"delta", corev3.ApiConfigSource_DELTA_GRPC, 10},
		{"state of the world", corev3.ApiConfigSource_GRPC, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := startWorld(t, test.protocol)
			if test.protocol == corev3.ApiConfigSource_GRPC {
				w.again = []string{"clusters", "endpoints", "extensions", "listeners", "routes"}
			}
			w.changes(test.rounds)
			w.badEdit()
			w.restart()
			w.replicas()
		})
	}
}

// reconnection is the longest time after which Envoy has a stream again, with room for a
// slow machine.
const reconnection = 2 * time.Second

// Envoy connects again soon, even after restarts of a server that has nothing to send.
func TestReconnect(t *testing.T) {
	envoytest.Path(t)
	for name, protocol := range map[string]corev3.ApiConfigSource_ApiType{
		"delta": corev3.ApiConfigSource_DELTA_GRPC, "state of the world": corev3.ApiConfigSource_GRPC,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, map[string]string{"web.yaml": web})
			server := m.serve(firstReplica)
			m.startProxy("web", protocol, firstReplica, "127.0.0.201:9901")
			server.waitConverged(1)
			for restart := range 8 {
				server.stop()
				time.Sleep(300 * time.Millisecond) // attempts that fail
				server = m.serve(firstReplica)
				begin := time.Now()
				eventually(t, "Envoy is connected", func() bool { return server.metric("xds_streams") == 1 })
				if took := time.Since(begin); took > reconnection {
					t.Errorf("Envoy connects %s after restart %d", took, restart+1)
				}
			}
		})
	}
}

// A world is two Envoys of a mesh with traffic, and a replica that serves them.
type world struct {
	*mesh
	*traffic
	t      *testing.T
	relay  *relay
	server *replica
	// again are the types whose resources a client that resumes gets again: all in state of the
	// world, because its version does not say what of it the client refused (SPEC 12.3).
	again []string
}

func startWorld(t *testing.T, protocol corev3.ApiConfigSource_ApiType) *world {
	m := newMesh(t, map[string]string{
		"web.yaml": web, "backend-1.yaml": backend1, "backend-2.yaml": backend2,
		"permission.yaml": permission("Allow"), "timeouts.yaml": timeouts(10*time.Second, 5*time.Second), "versions.yaml": versions("first"),
	})
	m.startApp("backend-1", "127.0.0.11:10080")
	m.startApp("backend-2", "127.0.0.12:10000")
	w := &world{mesh: m, t: t, server: m.serve(firstReplica), relay: m.startRelay(relayAddress, firstReplica)}
	m.startProxy("backend-1", protocol, relayAddress, "127.0.0.202:9901")
	m.startProxy("web", protocol, relayAddress, "127.0.0.201:9901")
	w.settles()
	w.traffic = startTraffic(t, m.network.Replace("http://127.0.0.1:10001/"))
	w.sees("first")
	w.flows("backend-1", "backend-2")
	return w
}

// settles waits until both proxies have ACKed what is served.
func (w *world) settles() {
	w.t.Helper()
	w.server.waitConverged(2)
	if got := w.server.metric("xds_nacks_total"); got != 0 {
		w.t.Errorf("%d NACKs", got)
	}
}

// publish changes the version in the answers, and waits until it is seen. Earlier edits are
// then published too.
func (w *world) publish(version string) {
	w.t.Helper()
	w.write("versions.yaml", versions(version))
	w.sees(version)
	w.settles()
}

// changes changes files at an interval, for some rounds of all kinds of changes.
func (w *world) changes(rounds int) {
	w.t.Helper()
	tick := time.NewTicker(changeInterval)
	defer tick.Stop()
	for round := range rounds {
		for _, change := range changes {
			<-tick.C
			change.edit(w.mesh, round)
		}
	}
	w.publish("changed")
	for _, kind := range resourceTypes {
		if got := w.server.pushes(kind); got < rounds/2 {
			w.t.Errorf("%d responses with %s for %d rounds of changes", got, kind, rounds)
		}
	}
	w.flows("backend-1", "backend-2")
}

// badEdit makes an error in one file, and a change in another one: neither is
// published until the error is gone.
func (w *world) badEdit() {
	w.t.Helper()
	before := w.server.metric("xds_pushes_total")
	w.write("timeouts.yaml", strings.Replace(timeouts(time.Second, time.Second), "requestTimeout", "requestTimeuot", 1))
	w.write("versions.yaml", versions("after-the-error"))
	eventually(w.t, "the error is reported", func() bool { return w.server.metric("load_errors") == 1 })
	w.flows("backend-1", "backend-2")
	if got := w.server.metric("xds_pushes_total") - before; got != 0 {
		w.t.Errorf("%d responses after a bad edit", got)
	}
	w.write("timeouts.yaml", timeouts(10*time.Second, 5*time.Second))
	w.sees("after-the-error")
	w.settles()
}

// restart ends the server and starts another one, first without a change in between,
// then with one.
func (w *world) restart() {
	w.t.Helper()
	w.server.stop()
	w.flows("backend-1", "backend-2")
	w.server = w.serve(firstReplica)
	w.settles()
	w.server.sentOnly(w.again...)

	w.server.stop()
	w.write("versions.yaml", versions("while-away"))
	w.server = w.serve(firstReplica)
	w.sees("while-away")
	w.settles()
	w.server.sentOnly(append(w.again, "routes")...)
}

// replicas moves the clients between two replicas, with a change after each move.
func (w *world) replicas() {
	w.t.Helper()
	first, second := w.server, w.serve(secondReplica)
	for i, r := range []*replica{second, first, second} {
		w.server = r
		w.relay.use(r.XDSAddr().String())
		w.publish(fmt.Sprintf("move-%d", i))
	}
	first.sentOnly(append(w.again, "routes")...)
	second.sentOnly(append(w.again, "routes")...)
	w.flows("backend-1", "backend-2")
}
