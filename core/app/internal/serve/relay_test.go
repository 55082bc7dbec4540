package serve_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

const (
	otherID       = "spiffe://default.mesh.local/other"
	secondRelayID = "spiffe://default.mesh.local/relay-2"
)

// files writes the certificate of an identity, and returns its files with the CA of servers.
func (c *credentialsOf) relayFiles(id string) *serve.TLSFiles {
	c.t.Helper()
	svid, err := c.authority.Issue(id, time.Hour, time.Now())
	if err != nil {
		c.t.Fatal(err)
	}
	name := filepath.Base(id)
	c.write(name+".crt", svid.Certificates)
	c.write(name+".key", svid.Key)
	return &serve.TLSFiles{
		Certificate: filepath.Join(c.dir, name+".crt"), Key: filepath.Join(c.dir, name+".key"), ClientCA: filepath.Join(c.dir, "server.crt"),
	}
}

// startRelay starts a relay with TLS on both sides.
func startRelay(t *testing.T, c *credentialsOf, id, upstream string, relays ...string) *serve.Relay {
	t.Helper()
	return runRelay(t, serve.RelayOptions{
		Options:   serve.Options{TLS: c.files(), Relays: relays, Operators: []string{webID}},
		Upstreams: []string{upstream}, UpstreamTLS: c.relayFiles(id),
	})
}

// runRelay runs a relay on free ports.
func runRelay(t *testing.T, options serve.RelayOptions) *serve.Relay {
	t.Helper()
	options.XDS, options.HTTP = "127.0.0.1:0", "127.0.0.1:0"
	r, err := serve.NewRelay(options)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

// relayClient connects a client of a relay.
func relayClient(t *testing.T, r *serve.Relay, config *tls.Config, node string) *xdstest.Client {
	t.Helper()
	return relayClientOf(t, r, config, xdstest.Options{Node: &corev3.Node{Id: node, UserAgentName: "envoy"}})
}

func relayClientOf(t *testing.T, r *serve.Relay, config *tls.Config, options xdstest.Options) *xdstest.Client {
	t.Helper()
	conn, err := grpc.NewClient(r.XDSAddr().String(), grpc.WithTransportCredentials(credentials.NewTLS(config)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	client, err := xdstest.New(t.Context(), conn, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// externalKey is the secret of the service of meshWithKey.
const externalKey = "external/kri_extsvc_default___out_/key"

// meshWithKey returns the mesh with an external service that web calls with a certificate.
func meshWithKey(t *testing.T) string {
	certificate := envoytest.NewAuthority(t).Issue(t, "spiffe://client")
	return strings.Replace(mesh, "outbound: [", "outbound: [{port: 9001, backendRef: {kind: MeshExternalService, name: out, port: 443}}, ", 1) +
		fmt.Sprintf("---\n{type: MeshExternalService, name: out, spec: {match: {port: 443}, endpoints: [{address: 192.0.2.1, port: 443}], tls: {enabled: true, verification: {clientCert: {inlineString: %q}, clientKey: {inlineString: %q}}}}}\n",
			envoytest.CertificatePEM(certificate.Certificate[0]), envoytest.KeyPEM(t, certificate))
}

// TestRelayAuthorization gives each client of a relay what serve would give it, also behind
// a second relay: the relay gives its identity upstream. Private keys pass only a relay that
// is named for that.
func TestRelayAuthorization(t *testing.T) {
	c := newCredentials(t)
	s := startReal(t, map[string]string{"mesh.yaml": meshWithKey(t), "identity.yaml": identity}, func(o *serve.Options) {
		o.TLS, o.State = c.files(), t.TempDir()
		o.Relays, o.RelaySecrets = []string{relayID, secondRelayID}, []string{secondRelayID}
	})
	first := startRelay(t, c, relayID, s.XDSAddr().String(), secondRelayID)
	chained := startRelay(t, c, secondRelayID, first.XDSAddr().String())
	keys := startRelay(t, c, secondRelayID, s.XDSAddr().String())

	for name, k := range map[string]struct {
		relay          *serve.Relay
		id, node       string
		listeners, key bool
	}{
		"its own dataplane":                      {first, webID, webNode, true, false},
		"its own dataplane, behind two relays":   {chained, webID, webNode, true, false},
		"its own dataplane, and a key":           {keys, webID, webNode, true, true},
		"another one's":                          {first, webID, apiNode, false, false},
		"another one's, behind two relays":       {chained, webID, apiNode, false, false},
		"an ID of no dataplane":                  {first, otherID, webNode, false, false},
		"an ID of no dataplane, and a key":       {keys, otherID, webNode, false, false},
		"a relay that serve names, for a client": {first, relayID, webNode, false, false},
	} {
		client := relayClient(t, k.relay, c.client(k.id), k.node)
		if err := client.Wildcard(wire.ListenerType); err != nil {
			t.Fatal(err)
		}
		if err := client.Wildcard(wire.ClusterType); err != nil {
			t.Fatal(err)
		}
		secrets := []string{"identity", externalKey}
		if err := client.Subscribe(wire.SecretType, secrets...); err != nil {
			t.Fatal(err)
		}
		has := func(secret string) bool { _, is := client.Named(wire.SecretType)[secret]; return is }
		client.Wait(envoytest.Limit(t), func() bool {
			for _, secret := range secrets {
				if _, refused := client.Error(wire.SecretType, secret); !refused && !has(secret) {
					return false
				}
			}
			for _, listed := range []wire.Type{wire.ListenerType, wire.ClusterType} {
				if _, none := client.Error(listed, "*"); !none && !holds(client, listed)() {
					return false
				}
			}
			return true
		})
		if got := holds(client, wire.ListenerType)(); got != k.listeners {
			t.Errorf("%s: it gets listeners: %v", name, got)
		}
		for _, secret := range secrets {
			if got := has(secret); got != k.key {
				t.Errorf("%s: it gets %s: %v", name, secret, got)
			}
		}
		for cluster, r := range client.Named(wire.ClusterType) {
			if strings.Contains(r.Body, "PRIVATE KEY") {
				t.Errorf("%s: there is a key in %s", name, cluster)
			}
		}
	}
}

// TestRelayParameters gives a client of a relay the variants for its own parameters, and not
// those for others, although the relay holds them.
func TestRelayParameters(t *testing.T) {
	c := newCredentials(t)
	s := startReal(t, map[string]string{"mesh.yaml": mesh, "identity.yaml": identity}, func(o *serve.Options) {
		o.TLS, o.State, o.Relays = c.files(), t.TempDir(), []string{relayID}
	})
	r := startRelay(t, c, relayID, s.XDSAddr().String())
	set := resourcetest.Decode(t, mesh)
	own := map[string]variant.Parameters{}
	for _, d := range set.Dataplanes {
		own[d.Name] = variant.ParametersOf(d, 0)
	}
	ask := func(id string, parameters variant.Parameters) (held, refused bool) {
		client, locator := relayClient(t, r, c.client(id), ""), xdstest.Locator{Name: "default/api", Parameters: parameters}
		if err := client.SubscribeLocators(wire.ClusterType, locator); err != nil {
			t.Fatal(err)
		}
		client.Wait(envoytest.Limit(t), func() bool {
			code, failed := client.Error(wire.ClusterType, locator.Name)
			_, held = client.Located(wire.ClusterType, locator)
			refused = failed && code == codes.PermissionDenied
			return held || refused
		})
		return held, refused
	}
	if held, refused := ask(webID, own["web"]); !held || refused {
		t.Errorf("its own parameters: held %v, refused %v", held, refused)
	}
	if held, refused := ask(otherID, own["web"]); held || !refused {
		t.Errorf("another client's parameters: held %v, refused %v", held, refused)
	}
	if held, refused := ask(webID, own["api"]); held || !refused {
		t.Errorf("parameters of another dataplane: held %v, refused %v", held, refused)
	}

	// The dataplane is deleted: what was allowed is taken.
	client, locator := relayClient(t, r, c.client(webID), ""), xdstest.Locator{Name: "default/api", Parameters: own["web"]}
	if err := client.SubscribeLocators(wire.ClusterType, locator); err != nil {
		t.Fatal(err)
	}
	isHeld := func() bool { _, held := client.Located(wire.ClusterType, locator); return held }
	client.Wait(envoytest.Limit(t), isHeld)
	s.write("mesh.yaml", mesh[len("\n{type: Dataplane, name: web, labels: {app: web}, networking: {address: 127.0.0.2, inbound: [{port: 8080, tags: {kuma.io/service: web}}], outbound: [{port: 9000, tags: {kuma.io/service: api}}]}}\n---\n"):]+
		"---\n{type: Dataplane, name: web2, networking: {address: 127.0.0.3, inbound: [{port: 8080, tags: {kuma.io/service: web}}], outbound: [{port: 9000, tags: {kuma.io/service: api}}]}}\n")
	if !client.Wait(envoytest.Limit(t), func() bool { return !isHeld() }) {
		t.Error("a client whose dataplane was deleted keeps what it holds")
	}
}

// TestRelayStatus reads the status of a relay over HTTP. A NACK of a client is shown there, and
// is not passed on: for serve the node has converged.
func TestRelayStatus(t *testing.T) {
	c := newCredentials(t)
	s := startReal(t, map[string]string{"mesh.yaml": mesh, "identity.yaml": identity}, func(o *serve.Options) {
		o.TLS, o.State, o.Relays, o.Operators = c.files(), t.TempDir(), []string{relayID}, []string{webID}
	})
	r := startRelay(t, c, relayID, s.XDSAddr().String())
	client := relayClient(t, r, c.client(webID), webNode)
	if err := client.Wildcard(wire.ListenerType); err != nil {
		t.Fatal(err)
	}
	if err := client.Wildcard(wire.ClusterType); err != nil {
		t.Fatal(err)
	}
	client.Wait(envoytest.Limit(t), holds(client, wire.ListenerType))
	body := ""
	get := func(path string, config *tls.Config, to any) int {
		h := http.Client{Transport: &http.Transport{TLSClientConfig: config}}
		defer h.CloseIdleConnections()
		response, err := h.Get("https://" + r.HTTPAddr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		content, _ := io.ReadAll(response.Body)
		body = string(content)
		if to != nil {
			if err := json.Unmarshal(content, to); err != nil {
				t.Fatalf("%s: %v: %s", path, err, body)
			}
		}
		return response.StatusCode
	}
	var convergence serve.Convergence
	if get("/converged?timeout=1m", c.client(webID), &convergence); !convergence.Done || convergence.Converged != 1 {
		t.Errorf("convergence: %+v", convergence)
	}
	var status serve.RelayStatus
	get("/status", c.client(webID), &status)
	if !status.Upstream.Connected || status.Upstream.Address != s.XDSAddr().String() || status.Streams != 1 || status.Dataplanes.Converged != 1 {
		t.Errorf("status: %+v", status)
	}
	if code := get("/status", c.client(otherID), nil); code != http.StatusForbidden {
		t.Errorf("/status answers a client that is not an operator with %d", code)
	}
	if code := get("/dataplanes/"+webNode+"/status", c.client(webID), nil); code != http.StatusOK {
		t.Errorf("the status of a node: %d", code)
	}

	client.Close()
	rejecting := relayClientOf(t, r, c.client(webID), xdstest.Options{
		Node:   &corev3.Node{Id: webNode, UserAgentName: "envoy"},
		Reject: func(xdstest.Held) string { return "is bad" },
	})
	if err := rejecting.Wildcard(wire.ClusterType); err != nil {
		t.Fatal(err)
	}
	s.eventually("the NACK", func() bool {
		get("/dataplanes/"+webNode+"/status", c.client(webID), nil)
		return strings.Contains(body, "is bad")
	})
	if get("/status", c.client(webID), &status); status.Dataplanes.Pending != 1 || status.Dataplanes.Converged != 0 {
		t.Errorf("after a NACK, the status is %+v", status)
	}
	if get("/metrics", c.client(webID), nil); !strings.Contains(body, `meshmatch_xds_nacks_total{type="clusters"} 1`) {
		t.Errorf("the metrics do not have the NACK:\n%s", body)
	}
	if _, metrics, err := s.get("/metrics", c.client(webID)); err != nil || !strings.Contains(metrics, `meshmatch_xds_nacks_total{type="clusters"} 0`) {
		t.Errorf("the NACK was passed on: %v\n%s", err, metrics)
	}
}

// What a relay rejects of its upstream is in /status, in the metrics and in /readyz?verbose after
// 15 s, and the relay stays ready.
func TestWrongNamesOfRelay(t *testing.T) {
	t.Parallel()
	u := &wrongUpstream{asked: make(chan struct{}, 100)}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(g, u)
	go func() { _ = g.Serve(at) }()
	t.Cleanup(g.Stop)
	r := runRelay(t, serve.RelayOptions{Options: serve.Options{Insecure: true}, Upstreams: []string{at.Addr().String()}})
	conn, err := grpc.NewClient(r.XDSAddr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	client, err := xdstest.New(t.Context(), conn, xdstest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	if err := client.SubscribeLocators(wire.ClusterType, xdstest.Locator{Name: "web"}); err != nil {
		t.Fatal(err)
	}
	get := func(path string) string {
		response, err := http.Get("http://" + r.HTTPAddr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			t.Errorf("%s: %d, %v", path, response.StatusCode, err)
		}
		return string(body)
	}
	want := map[string]string{
		"/status":         `"name": "web"`,
		"/metrics":        `meshmatch_upstream_wrong_names{type="clusters"} 1`,
		"/readyz?verbose": "ok\n1 clusters are not what the upstream last sent",
	}
	for range 3 { // the third time is 20 s after the first one
		<-u.asked
	}
	for path, text := range want {
		if body := get(path); !strings.Contains(body, text) {
			t.Errorf("%s has no %q: %s", path, text, body)
		}
	}
}

// A wrongUpstream answers each question with a resource without a version.
type wrongUpstream struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	asked chan struct{}
}

func (u *wrongUpstream) DeltaAggregatedResources(stream discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	for {
		r, err := stream.Recv()
		if err != nil {
			return err
		}
		if len(r.GetResourceLocatorsSubscribe()) == 0 {
			continue
		}
		u.asked <- struct{}{}
		m := &discoveryv3.DeltaDiscoveryResponse{TypeUrl: r.GetTypeUrl(), Nonce: "1", Resources: []*discoveryv3.Resource{{ResourceName: &discoveryv3.ResourceName{Name: "web"}}}}
		if err := stream.Send(m); err != nil {
			return err
		}
	}
}
