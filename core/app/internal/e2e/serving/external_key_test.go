package serving

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net/http"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
)

// An Envoy gets the key that it presents to an external service as a secret, and presents the
// next one when the resource has another.
func TestExternalKey(t *testing.T) {
	envoytest.Path(t)
	for name, protocol := range map[string]corev3.ApiConfigSource_ApiType{
		"delta": corev3.ApiConfigSource_DELTA_GRPC, "state of the world": corev3.ApiConfigSource_GRPC,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			authority := envoytest.NewAuthority(t)
			service := func(client string) string {
				certificate := authority.Issue(t, client)
				return fmt.Sprintf(`{type: MeshExternalService, name: outside, spec: {match: {port: 80, protocol: http}, endpoints: [{address: 127.0.0.21, port: 8443}],
  tls: {enabled: true, verification: {serverName: outside.example, caCert: {inlineString: %q}, clientCert: {inlineString: %q}, clientKey: {inlineString: %q}}}}}`,
					authority.Bundle(), envoytest.CertificatePEM(certificate.Certificate[0]), envoytest.KeyPEM(t, certificate))
			}
			m := newMesh(t, map[string]string{
				"outside.yaml": service("spiffe://outside/first"),
				"web.yaml": `{type: Dataplane, name: web, networking: {address: 127.0.0.1, inbound: [{port: 10000, tags: {kuma.io/service: web}}],
  outbound: [{address: 127.0.0.1, port: 10003, backendRef: {kind: MeshExternalService, name: outside, port: 80}}]}}`,
			})
			clients := x509.NewCertPool()
			clients.AddCert(authority.Certificate)
			listener, err := envoytest.Listen(m.network.Replace("127.0.0.21:8443"))
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), Handler: http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(out, r.TLS.PeerCertificates[0].URIs[0].String())
			})}
			server.SetKeepAlivesEnabled(false) // a new connection presents the new certificate
			go func() {
				_ = server.Serve(tls.NewListener(listener, &tls.Config{
					Certificates: []tls.Certificate{authority.IssueHost(t, "outside.example")}, ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert,
				}))
			}()
			t.Cleanup(func() { _ = server.Close() })
			replica := m.serve(firstReplica)
			m.startProxy("web", protocol, firstReplica, "127.0.0.201:9901")
			replica.waitConverged(1)

			transport := &http.Transport{DisableKeepAlives: true}
			t.Cleanup(transport.CloseIdleConnections)
			presents := func(client string) {
				t.Helper()
				eventually(t, "web presents "+client, func() bool {
					response, err := (&http.Client{Transport: transport}).Get("http://" + m.network.Replace("127.0.0.1:10003"))
					if err != nil {
						return false
					}
					defer response.Body.Close()
					body, err := io.ReadAll(response.Body)
					return err == nil && response.StatusCode == http.StatusOK && string(body) == client
				})
			}
			presents("spiffe://outside/first")
			m.write("outside.yaml", service("spiffe://outside/second"))
			presents("spiffe://outside/second")
			if got := replica.metric("xds_nacks_total"); got != 0 {
				t.Errorf("%d NACKs", got)
			}
		})
	}
}
