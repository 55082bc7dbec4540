package serving

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// callsPods is web with an outbound to the service pods. Each dataplane has a SPIFFE ID of
// its own.
const callsPods = `
{type: Dataplane, name: web, labels: {kuma.io/zone: east}, networking: {address: 127.0.0.1,
  inbound: [{port: 10000, tags: {kuma.io/service: web}}], outbound: [{address: 127.0.0.1, port: 10001, OUTBOUND}]}}
---
{type: MeshService, name: pods, labels: {kuma.io/zone: east}, spec: {state: Available, selector: {dataplaneLabels: {matchLabels: {of: pods}}}, ports: [{port: 80, targetPort: 10000, appProtocol: http}]}}
---
{type: MeshIdentity, name: files, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {trustDomain: default.mesh.local, path: "/dataplane/{{ .Name }}"}, provider: {type: Extension, extension: {name: files, config: {
  certificate: "CERTIFICATES/{{ .Name }}.pem", privateKey: "CERTIFICATES/{{ .Name }}.key", trustBundle: CERTIFICATES/ca.pem}}}}}
`

// Dataplanes with new SPIFFE IDs join a service and leave it, also both in one edit, and no
// request fails. Each of them changes the cluster that verifies the service. In `targetref`
// an endpoint has a transport socket of its own, and without it would be called without TLS.
// In `kuma` a MeshService without identities has one socket, which accepts the SPIFFE IDs of
// all endpoints.
func TestIdentitiesOfEndpoints(t *testing.T) {
	envoytest.Path(t)
	const joining = 20
	for name, c := range map[string]struct {
		semantics semantics.Semantics
		outbound  string
		protocol  corev3.ApiConfigSource_ApiType
	}{
		"targetref":                        {semantics.TargetRef, "tags: {kuma.io/service: pods}", corev3.ApiConfigSource_DELTA_GRPC},
		"targetref and state of the world": {semantics.TargetRef, "tags: {kuma.io/service: pods}", corev3.ApiConfigSource_GRPC},
		"kuma":                             {semantics.Kuma, "backendRef: {kind: MeshService, name: pods, port: 80}", corev3.ApiConfigSource_DELTA_GRPC},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, nil)
			m.semantics = c.semantics
			m.write("web.yaml", strings.NewReplacer("CERTIFICATES", m.certificates, "OUTBOUND", c.outbound).Replace(callsPods))
			authority := envoytest.NewAuthority(t)
			authority.WriteFiles(t, m.certificates, "web", trustDomain+"dataplane/web")
			nameOf := func(i int) string { return fmt.Sprintf("pod-%d", i) }
			// pods makes the service have the pods from one number to another one.
			pods := func(from, to int) {
				var all []string
				for i := from; i <= to; i++ {
					all = append(all, pod(nameOf(i), "east", fmt.Sprintf("127.0.0.%d", 10+i)))
				}
				m.write("pods.yaml", strings.Join(all, "---"))
			}
			for i := range joining + 1 {
				m.startSecured(authority, nameOf(i), fmt.Sprintf("127.0.0.%d:10000", 10+i))
			}
			pods(0, 0)
			server := m.serve(firstReplica)
			m.startProxy("web", c.protocol, firstReplica, "127.0.0.201:9901")
			server.waitConverged(1)
			seen := startTraffic(t, m.network.Replace("http://127.0.0.1:10001/"))
			for range 3 {
				startTraffic(t, m.network.Replace("http://127.0.0.1:10001/"))
			}
			seen.only(nameOf(0))
			oldest := 0
			for i := 1; i <= joining; i++ {
				switch { // one, two or three pods
				case i-oldest < 3:
				case i%2 == 0:
					oldest++ // leaves as the other one joins
				default:
					oldest++
					pods(oldest, i-1)
				}
				pods(oldest, i)
				seen.flows(nameOf(i))
			}
			for ; oldest < joining; oldest++ {
				pods(oldest+1, joining)
			}
			seen.only(nameOf(joining))
			if got := server.metric("xds_nacks_total"); got != 0 {
				t.Errorf("%d NACKs", got)
			}
		})
	}
}

// startSecured starts a workload that ends TLS itself, as its dataplane.
func (m *mesh) startSecured(authority *envoytest.Authority, name, address string) {
	m.t.Helper()
	listener, err := envoytest.Listen(m.network.Replace(address))
	if err != nil {
		m.t.Fatal(err)
	}
	server := &http.Server{
		Handler:   http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("x-app", name) }),
		ErrorLog:  log.New(io.Discard, "", 0),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{authority.Issue(m.t, trustDomain+"dataplane/"+name)}},
	}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	m.t.Cleanup(func() { _ = server.Close() })
}
