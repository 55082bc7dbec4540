package serving

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

const (
	web2 = `
{type: Dataplane, name: web-2, networking: {address: 127.0.0.2,
  inbound: [{port: 10000, serviceAddress: 127.0.0.2, servicePort: 10080, protocol: http2, tags: {kuma.io/service: web}}],
  outbound: [{address: 127.0.0.2, port: 10001, tags: {kuma.io/service: backend}}]}}
`
	bundled = `
{type: MeshIdentity, name: identity, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {path: "/{{ .Name }}"},
  provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}}}
`
	operatorID = trustDomain + "operator"
)

// metadataKeys is the value of `--parameter`: a node has its parameters below "parameters".
func metadataKeys(names ...string) (keys []variant.MetadataKey) {
	for _, name := range names {
		keys = append(keys, variant.MetadataKey{Key: name, Path: []string{"parameters", name}})
	}
	return keys
}

// pki has the files of servers and clients on one CA.
type pki struct {
	*mesh
	ca *envoytest.Authority
}

// files issues a certificate for an address, and returns the files of its server.
func (p *pki) files(address string) *serve.TLSFiles {
	p.t.Helper()
	host := netip.MustParseAddrPort(p.network.Replace(address)).Addr().String()
	p.ca.WriteHostFiles(p.t, p.certificates, host)
	return p.paths(host)
}

// client issues a certificate with a SPIFFE ID, and returns the files of its client.
func (p *pki) client(name string) *serve.TLSFiles {
	p.t.Helper()
	p.ca.WriteFiles(p.t, p.certificates, name, trustDomain+name)
	return p.paths(name)
}

func (p *pki) paths(name string) *serve.TLSFiles {
	return &serve.TLSFiles{
		Certificate: filepath.Join(p.certificates, name+".pem"), Key: filepath.Join(p.certificates, name+".key"),
		ClientCA: filepath.Join(p.certificates, "ca.pem"),
	}
}

// startEnvoy starts the Envoy of a dataplane with its own certificate, and with its parameters
// in the metadata of its node.
func (p *pki) startEnvoy(name string, protocol corev3.ApiConfigSource_ApiType, address, admin string) {
	p.t.Helper()
	d, id := p.dataplane(name)
	at, files := p.server(address), p.client(name)
	at.CA, at.Certificate, at.Key = files.ClientCA, files.Certificate, files.Key
	b := bootstrap.ADS(d, id, at, bootstrap.Options{Admin: netip.MustParseAddrPort(p.network.Replace(admin))})
	b.DynamicResources.AdsConfig.ApiType = protocol
	parameters := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for key, value := range variant.ParametersOf(d, 0) {
		parameters.Fields[key] = structpb.NewStringValue(value)
	}
	if b.Node.Metadata == nil {
		b.Node.Metadata = &structpb.Struct{Fields: map[string]*structpb.Value{}}
	}
	b.Node.Metadata.Fields["parameters"] = structpb.NewStructValue(parameters)
	config, err := message.JSON(b)
	if err != nil {
		p.t.Fatal(err)
	}
	proxy := envoytest.Start(p.t, name, config)
	p.t.Cleanup(func() {
		if p.t.Failed() {
			p.t.Logf("%s: %s", name, proxy.Log())
		}
	})
}

// status returns the status of a relay.
func (p *pki) status(address string) (status serve.RelayStatus) {
	p.t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(p.ca.Certificate)
	c := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{p.ca.Issue(p.t, operatorID)}}}}
	defer c.CloseIdleConnections()
	response, err := c.Get("https://" + p.network.Replace(address) + "/status")
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	if err := json.Unmarshal(body, &status); err != nil {
		p.t.Fatalf("%v: %s", err, body)
	}
	return status
}

// Three Envoys are behind serve and two relays in a row, all with mutual TLS, and their
// metadata is their parameters (`--parameter`). Both of web share the endpoints of backend by
// one locator, and have their private keys from serve. Requests between them, with mutual TLS
// too, succeed in spite of edits and restarts, until the dataplane of the client is deleted.
func TestSecuredEnvoysBehindRelays(t *testing.T) {
	envoytest.Path(t)
	for name, protocol := range map[string]corev3.ApiConfigSource_ApiType{
		"delta": corev3.ApiConfigSource_DELTA_GRPC, "state of the world": corev3.ApiConfigSource_GRPC,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newMesh(t, map[string]string{
				"web.yaml": web, "web-2.yaml": web2, "backend-1.yaml": backend1, "identity.yaml": bundled,
				"permission.yaml": permission("Allow"), "versions.yaml": versions("first"),
			})
			p := &pki{m, envoytest.NewAuthority(t)}
			m.startApp("backend-1", "127.0.0.11:10080")
			const firstHTTP, secondHTTP = "127.0.0.240:5681", "127.0.0.241:5681"
			first, second := trustDomain+"relay-1", trustDomain+"relay-2"
			p.client("operator")
			keys, state := metadataKeys("@name", "@section", "kuma.io/service"), t.TempDir()
			startServer := func() *replica {
				return m.serve(firstReplica, func(o *serve.Options) {
					o.TLS, o.State, o.Operators = p.files(firstReplica), state, []string{operatorID}
					o.Relays, o.RelaySecrets = []string{first, second}, []string{first, second}
				})
			}
			startRelay := func(address, http, upstream, id, state string, trusted ...string) (stop func()) {
				return m.startCaching(address, upstream, state, func(o *serve.RelayOptions) {
					o.TLS, o.UpstreamTLS = p.files(address), p.client(id)
					o.HTTP, o.Operators, o.Relays, o.Parameters = m.network.Replace(http), []string{operatorID}, trusted, keys
				})
			}
			firstState, secondState := t.TempDir(), t.TempDir()
			server := startServer()
			stopFirst := startRelay(firstRelay, firstHTTP, firstReplica, "relay-1", firstState, second)
			startRelay(secondRelay, secondHTTP, firstRelay, "relay-2", secondState)
			p.startEnvoy("backend-1", protocol, secondRelay, "127.0.0.202:9901")
			p.startEnvoy("web", protocol, secondRelay, "127.0.0.201:9901")
			tr := m.startEnvoyTraffic()
			tr.sees("first")
			p.startEnvoy("web-2", protocol, secondRelay, "127.0.0.203:9901")
			other := m.network.Replace("http://127.0.0.2:10001/")
			probe := &traffic{t: t, apps: map[string]int{}}
			eventually(t, "the second Envoy of web answers", func() bool { return probe.send(http.DefaultClient, other) == nil })
			for _, at := range []string{firstHTTP, secondHTTP} {
				if s := p.status(at).Upstream; s.Subscriptions["endpoints"] != 1 {
					t.Errorf("the relay at %s asks %+v, want the endpoints of backend by one locator", at, s)
				}
			}

			for i, edit := range []func(){
				func() { server.stop(); server = startServer() },
				func() {
					stopFirst()
					stopFirst = startRelay(firstRelay, firstHTTP, firstReplica, "relay-1", firstState, second)
				},
				func() {
					m.write("backend-2.yaml", backend2)
					m.startApp("backend-2", "127.0.0.12:10000")
					m.remove("backend-2.yaml")
				},
			} {
				edit()
				version := []string{"after-a-server", "after-a-relay", "after-an-endpoint"}[i]
				m.write("versions.yaml", versions(version))
				tr.sees(version)
			}
			tr.stop()

			// What web may have is taken at once when its dataplane is deleted. The other
			// one keeps its own.
			m.remove("web.yaml")
			url := m.network.Replace("http://127.0.0.1:10001/")
			eventually(t, "web has no resources", func() bool { return probe.send(&http.Client{Timeout: time.Second}, url) != nil })
			if err := probe.send(http.DefaultClient, other); err != nil {
				t.Errorf("web-2 cannot call after web was deleted: %v", err)
			}
		})
	}
}
