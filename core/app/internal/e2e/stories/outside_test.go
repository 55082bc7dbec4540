package stories

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"testing"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/xds/translators"
)

// An HTTP service outside of the mesh runs in each story: in plain text at port 8080, and
// by TLS at port 8443 with a certificate of the other authority for its name. It answers
// with the host that it is asked for, the server name of the handshake and the SPIFFE ID of
// the client.
const (
	outsideAddress = "127.0.0.102"
	outsideName    = "outside.example"
	outsideClient  = "spiffe://other.example/client"
)

func serveOutside(t *testing.T, w *world) {
	clients := x509.NewCertPool()
	clients.AddCert(w.other.Certificate)
	settings := &tls.Config{
		Certificates: []tls.Certificate{w.other.IssueHost(t, outsideName)}, NextProtos: []string{"http/1.1"},
		ClientAuth: tls.VerifyClientCertIfGiven, ClientCAs: clients,
	}
	answer := http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		name, client := "", ""
		if r.TLS != nil {
			name = r.TLS.ServerName
			for _, c := range r.TLS.PeerCertificates {
				client = c.URIs[0].String()
			}
		}
		_, _ = fmt.Fprintf(out, "host=%s sni=%s client=%s", r.Host, name, client)
	})
	for port, wrap := range map[string]func(net.Listener) net.Listener{
		"8080": func(l net.Listener) net.Listener { return l },
		"8443": func(l net.Listener) net.Listener { return tls.NewListener(l, settings) },
	} {
		listener, err := envoytest.Listen(net.JoinHostPort(w.local(outsideAddress), port))
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: answer, ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = server.Serve(wrap(listener)) }()
		t.Cleanup(func() { _ = server.Close() })
	}
}

// outside asks ADDRESS/PATH as inside.example, and returns the answer of the service outside
// of the mesh, or the status.
func outside(url string) func(*world) string {
	return func(w *world) string {
		request, err := http.NewRequest(http.MethodGet, "http://"+w.local(url), nil)
		if err != nil {
			w.t.Fatal(err)
		}
		request.Host = "inside.example"
		transport := &http.Transport{DisableKeepAlives: true}
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport, Timeout: patience}).Do(request)
		if err != nil {
			return err.Error()
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			return fmt.Sprint(response.StatusCode)
		}
		return string(body)
	}
}

// externalService returns a MeshExternalService and an outbound of web to it.
func externalService(port int, name, endpoints, tls string) (outbound, service string) {
	return fmt.Sprintf("  - {address: 127.0.0.1, port: %d, backendRef: {kind: MeshExternalService, name: %s, port: 9000}}\n", port, name),
		fmt.Sprintf("type: MeshExternalService\nmesh: default\nname: %s\nlabels: {kuma.io/zone: east}\nspec: {match: {type: HostnameGenerator, port: 9000, protocol: http}, endpoints: [%s], tls: %s}\n---\n", name, endpoints, tls)
}

// externalStory is about how a proxy connects to external services and verifies them.
func externalStory() story {
	const named, addressed, plain = "{address: outside.example, port: 8443}", "{address: 127.0.0.102, port: 8443}", "{address: 127.0.0.102, port: 8080}"
	const gone = "{address: 127.0.0.102, port: 1}"
	secured := func(more string) string {
		return "{enabled: true, verification: {caCert: {inlineString: OTHER-BUNDLE}" + more + "}}"
	}
	s := story{name: "external services", semantics: semantics.Kuma, proxies: []string{"web", "egress-east"}, down: []string{"backend-1", "backend-2"}}
	outbounds, services := "\n", ""
	for i, c := range []struct{ name, endpoints, tls, want string }{
		{"in plain text", plain, "{}", "host=inside.example sni= client="},
		{"by the name of the endpoint", named, secured(""), "host=outside.example sni=outside.example client="},
		{"by an address, which no certificate has", addressed, secured(""), "503"},
		{"by an address and the name of the server", addressed, secured(", serverName: outside.example"), "host=inside.example sni=outside.example client="},
		{"by an address and an alternative name", addressed, secured(", subjectAltNames: [{value: outside.example}]"), "host=inside.example sni= client="},
		{"by an address and the prefix of a name", addressed, secured(", subjectAltNames: [{type: Prefix, value: outside.}]"), "host=inside.example sni= client="},
		{"another name of the server", named, secured(", serverName: inside.example"), "503"},
		{"names are not verified", addressed, secured(", mode: SkipSAN, serverName: inside.example"), "host=inside.example sni= client="},
		{"another CA", named, "{enabled: true}", "503"},
		{"another CA and no names", named, "{enabled: true, verification: {mode: SkipSAN}}", "503"},
		{"the CA is not verified", named, "{enabled: true, verification: {mode: SkipCA}}", "host=outside.example sni=outside.example client="},
		{"a certificate of the client", named, secured(", clientCert: {inlineString: OTHER-CERTIFICATE}, clientKey: {inlineString: OTHER-KEY}"), "host=outside.example sni=outside.example client=" + outsideClient},
		{"a certificate of the client is not presented", named, secured(", mode: SkipAll, clientCert: {inlineString: OTHER-CERTIFICATE}, clientKey: {inlineString: OTHER-KEY}"), "host=outside.example sni=outside.example client="},
		{"a CA in a Secret", named, "{enabled: true, verification: {caCert: {secret: ca}}}", "503"},
		{"a version that the service has", named, "{enabled: true, version: {min: TLS13}, verification: {mode: SkipCA}}", "host=outside.example sni=outside.example client="},
		{"a version that the service lacks", named, "{enabled: true, version: {max: TLS11}, verification: {mode: SkipCA}}", "503"},
		{"an endpoint by TLS without TLS", named, "{enabled: false}", "400"},
		{"a second endpoint has a lower priority", plain + ", {address: 127.0.0.102, port: 1, priority: 7}", "{}", "host=inside.example sni= client="},
		{"no endpoint answers", gone, "{}", "503"},
	} {
		port := 10001 + i
		outbound, service := externalService(port, fmt.Sprint("outside-", i), c.endpoints, c.tls)
		outbounds, services = outbounds+outbound, services+service
		s.steps = append(s.steps, step{name: c.name, do: outside(fmt.Sprintf("127.0.0.1:%d/", port)), want: c.want})
	}
	s.mesh = withClient(outbounds, services+identities+zoneProxies)
	return s
}

func TestExternalServices(t *testing.T) {
	envoytest.Path(t)
	s := externalStory()
	s.run(t, translators.All(), func(x step) string { return x.want })
}

// egressStory is about the policies that act at an egress: those of its listener on requests, and
// items of `to` on the clusters of external services.
func egressStory(policies string) story {
	outbounds, services := "\n", ""
	for i := range 5 {
		outbound, service := externalService(10001+i, fmt.Sprint("outside-", i), "{address: 127.0.0.102, port: 8080}", "{}")
		outbounds, services = outbounds+outbound, services+service
	}
	const answer = "host=inside.example sni= client="
	ask := func(i int) func(*world) string { return outside(fmt.Sprintf("127.0.0.1:%d/", 10001+i)) }
	return story{
		name: "policies of an egress", semantics: semantics.Kuma,
		mesh: withClient(outbounds, services+identities+zoneProxies+policies), proxies: []string{"web", "egress-east"}, down: []string{"backend-1", "backend-2"},
		steps: []step{
			{name: "the first request", do: ask(0), want: answer},
			{name: "a limited request", do: ask(0), want: "429", without: answer},
			{name: "a fault for the client", do: ask(1), want: "418", without: answer},
			{name: "a fault for another client", do: ask(2), want: answer},
			{name: "a service that fails its health check", do: ask(3), want: "503", without: answer},
			{name: "another service", do: ask(4), want: answer},
		},
	}
}

const egressPolicies = `type: MeshRateLimit
mesh: default
name: limit
spec:
  targetRef: {kind: Dataplane, labels: {proxy: egress}}
  rules:
  - matches: [{sni: sni.extsvc.default.east.outside-0.9000}]
    default: {local: {http: {requestRate: {num: 1, interval: 1h}}}}
---
type: MeshFaultInjection
mesh: default
name: fault
spec:
  targetRef: {kind: Dataplane, labels: {proxy: egress}, sectionName: out}
  rules:
  - matches: [{sni: sni.extsvc.default.east.outside-1.9000, spiffeId: {type: Prefix, value: "spiffe://default.mesh.local/w"}}]
    default: {http: [{abort: {httpStatus: 418, percentage: 100}}]}
  - matches: [{sni: sni.extsvc.default.east.outside-2.9000, spiffeId: {type: Prefix, value: "spiffe://default.mesh.local/x"}}]
    default: {http: [{abort: {httpStatus: 418, percentage: 100}}]}
---
type: MeshHealthCheck
mesh: default
name: check
spec:
  targetRef: {kind: Dataplane, labels: {proxy: egress}}
  to:
  - targetRef: {kind: MeshExternalService, labels: {kuma.io/display-name: outside-3}}
    default: {interval: 1h, timeout: 1s, http: {path: /, expectedStatuses: [404]}}
---
type: MeshCircuitBreaker
mesh: default
name: panic
spec:
  targetRef: {kind: Dataplane, labels: {proxy: egress}}
  to:
  - targetRef: {kind: MeshExternalService, labels: {kuma.io/display-name: outside-3}}
    default: {outlierDetection: {healthyPanicThreshold: 0, detectors: {totalFailures: {consecutive: 5}}}}
`

func TestPoliciesOfEgress(t *testing.T) {
	envoytest.Path(t)
	with, without := egressStory(egressPolicies), egressStory("")
	with.run(t, translators.All(), func(x step) string { return x.want })
	without.run(t, translators.All(), func(x step) string { return cmp.Or(x.without, x.want) })
}
