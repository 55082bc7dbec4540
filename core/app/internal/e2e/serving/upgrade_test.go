package serving

import (
	"fmt"
	"net/http"
	"os"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// upgraded has a client and a server with identities. An older Envoy gets other forms of its
// policies: a permission by SPIFFE ID, rate limits, access logs, timeouts by client.
const upgraded = `
{type: Dataplane, name: client, labels: {tls: "yes"}, networking: {address: 127.0.0.2,
  inbound: [{port: 10000, serviceAddress: 127.0.0.2, servicePort: 10080, tags: {kuma.io/service: client, kuma.io/protocol: http}}],
  outbound: [{port: 10002, address: 127.0.0.2, tags: {kuma.io/service: web}}]}}
---
{type: Dataplane, name: secured, labels: {tls: "yes"}, networking: {address: 127.0.0.1,
  inbound: [{port: 10000, serviceAddress: 127.0.0.1, servicePort: 10080, tags: {kuma.io/service: web, kuma.io/protocol: http}}]}}
---
{type: MeshTrafficPermission, name: all, spec: {rules: [{default: {allow: [{spiffeId: {type: Exact, value: "spiffe://default.mesh.local/client"}}]}}]}}
---
{type: MeshRateLimit, name: all, spec: {targetRef: {kind: MeshService, name: web}, from: [{targetRef: {kind: Mesh}, default: {local: {http: {requestRate: {num: 1000000, interval: 1s}}}}}]}}
---
{type: MeshAccessLog, name: all, spec: {targetRef: {kind: MeshService, name: web}, from: [{targetRef: {kind: Mesh}, default: {backends: [{type: File, file: {path: /dev/null}}]}}]}}
---
{type: MeshTimeout, name: all, spec: {targetRef: {kind: MeshService, name: web}, from: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 9s}}}]}}
`

// otherEnvoy returns the Envoy of another release, which the variable ENVOY_OTHER names. In CI, where
// CI=true, the variable must be set.
func otherEnvoy(t *testing.T) string {
	path := os.Getenv("ENVOY_OTHER")
	switch {
	case path != "":
	case os.Getenv("CI") == "true":
		t.Fatal("ENVOY_OTHER is not set; run make e2e")
	default:
		t.Skip("ENVOY_OTHER is not set; make e2e fetches an older Envoy and runs this test")
	}
	return path
}

// A fleet is upgraded one proxy at a time under traffic, and each step of it is a mixed fleet:
// an old client with a new server, and the reverse. One Envoy starts beside the other, with its
// node id, its addresses and what its own version needs, and the other one then drains. No
// request fails, in either direction of the upgrade, and clients without permission stay denied.
func TestUpgrade(t *testing.T) {
	this, other := envoytest.Path(t), otherEnvoy(t)
	for _, test := range []struct {
		name  string
		steps [3][2]string // the binaries of the server and of the client
	}{
		{"server first", [3][2]string{{other, other}, {this, other}, {this, this}}},
		{"client first, and back", [3][2]string{{other, this}, {this, this}, {this, other}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := startFleet(t, test.steps[0])
			tr := startTraffic(t, f.network.Replace("http://127.0.0.2:10002/"))
			tr.flows("web")
			for _, step := range test.steps[1:] {
				f.replace(0, step[0])
				tr.flows("web")
				f.replace(1, step[1])
				tr.flows("web")
				f.deniesOthers()
			}
			tr.stop()
			if got := f.server.metric("xds_nacks_total"); got != 0 {
				t.Errorf("%d NACKs", got)
			}
		})
	}
}

// A fleet is the proxies of the dataplanes secured and client.
type fleet struct {
	*mesh
	server  *replica
	ca      *envoytest.Authority
	running [2]*envoytest.Proxy
	binary  [2]string
	started int
}

func startFleet(t *testing.T, binaries [2]string) *fleet {
	f := &fleet{mesh: newMesh(t, map[string]string{"upgraded.yaml": upgraded}), ca: envoytest.NewAuthority(t)}
	f.write("identities.yaml", f.identities(`tls: "yes"`))
	f.issue(f.ca, "secured", "client")
	f.startApp("web", "127.0.0.1:10080")
	f.server = f.serve(firstReplica)
	for i, binary := range binaries {
		f.replace(i, binary)
	}
	f.server.waitConverged(len(f.running))
	return f
}

// replace starts an Envoy of another version beside the one of a dataplane, lets that one drain
// and stops it.
func (f *fleet) replace(i int, binary string) {
	f.t.Helper()
	if f.binary[i] == binary {
		return
	}
	name, old := []string{"secured", "client"}[i], f.running[i]
	f.started++
	f.binary[i] = binary
	f.running[i] = f.startEnvoy(binary, name, corev3.ApiConfigSource_DELTA_GRPC, firstReplica, fmt.Sprintf("127.0.0.%d:9901", 200+f.started))
	if old == nil {
		return
	}
	if err := old.Post("/drain_listeners?graceful&skip_exit"); err != nil {
		f.t.Fatal(err)
	}
	time.Sleep(drained)
	old.Stop()
}

// drained is when a proxy with a drain time of a second has no connections.
const drained = 1500 * time.Millisecond

// deniesOthers checks that the server still denies who has no permission.
func (f *fleet) deniesOthers() {
	f.t.Helper()
	address := f.network.Replace("127.0.0.1:10000")
	for _, ids := range [][]string{{trustDomain + "other"}, {trustDomain + "client", trustDomain + "client-2"}} {
		if got := securedStatus(f.t, f.ca, address, ids); got != "refused" {
			f.t.Errorf("%v: %s", ids, got)
		}
	}
	if got := securedStatus(f.t, f.ca, address, []string{trustDomain + "client"}); got != fmt.Sprint(http.StatusOK) {
		f.t.Errorf("the client: %s", got)
	}
}
