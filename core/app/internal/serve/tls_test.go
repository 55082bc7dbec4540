package serve_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/app/internal/serve"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

const (
	webID   = "spiffe://default.mesh.local/dataplane/web"
	relayID = "spiffe://default.mesh.local/relay"
)

// credentialsOf are the files of a server with TLS, and the CA of its clients.
type credentialsOf struct {
	t         testing.TB
	dir       string
	authority *ca.Authority
	roots     *x509.CertPool // that verify the server
}

func newCredentials(t testing.TB) *credentialsOf {
	t.Helper()
	c := &credentialsOf{t: t, dir: t.TempDir()}
	var err error
	if c.authority, err = ca.Generate("clients", time.Now()); err != nil {
		t.Fatal(err)
	}
	c.write("clients.pem", c.authority.Bundle())
	c.replace()
	return c
}

func (c *credentialsOf) write(name string, content []byte) {
	c.t.Helper()
	if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *credentialsOf) files() *serve.TLSFiles {
	return &serve.TLSFiles{Certificate: filepath.Join(c.dir, "server.crt"), Key: filepath.Join(c.dir, "server.key"), ClientCA: filepath.Join(c.dir, "clients.pem")}
}

// replace gives the server a new, self-signed certificate.
func (c *credentialsOf) replace() {
	c.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		c.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		c.t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		c.t.Fatal(err)
	}
	c.write("server.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	c.write("server.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
	c.roots = x509.NewCertPool()
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		c.t.Fatal(err)
	}
	c.roots.AddCert(certificate)
}

// client returns the configuration of a client with a SPIFFE ID. If that is "", the client
// has no certificate.
func (c *credentialsOf) client(id string) *tls.Config {
	c.t.Helper()
	config := &tls.Config{RootCAs: c.roots}
	if id == "" {
		return config
	}
	svid, err := c.authority.Issue(id, time.Hour, time.Now())
	if err != nil {
		c.t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(svid.Certificates, svid.Key)
	if err != nil {
		c.t.Fatal(err)
	}
	config.Certificates = []tls.Certificate{pair}
	return config
}

func holds(c *xdstest.Client, t wire.Type) func() bool {
	return func() bool { return len(c.Named(t)) > 0 }
}

// TestClientIdentity gives each client the dataplane of its SPIFFE ID, and no other.
func TestClientIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCredentials(t)
		r := start(t, map[string]string{"mesh.yaml": mesh, "identity.yaml": identity}, func(o *serve.Options) {
			o.TLS, o.Relays, o.State = c.files(), []string{relayID}, t.TempDir()
			o.RelaySecrets = []string{relayID}
		})
		for name, k := range map[string]struct {
			id, node string
			want     bool
		}{
			"its own dataplane":     {webID, webNode, true},
			"another one's":         {webID, apiNode, false},
			"a relay":               {relayID, webNode, true},
			"an ID of no dataplane": {"spiffe://default.mesh.local/other", webNode, false},
			"another trust domain":  {"spiffe://other/dataplane/web", webNode, false},
		} {
			client := r.client(k.node, c.client(k.id))
			if err := client.Wildcard(wire.ListenerType); err != nil {
				t.Fatal(err)
			}
			if err := client.Subscribe(wire.SecretType, "identity"); err != nil {
				t.Fatal(err)
			}
			r.eventually("answer: "+name, func() bool {
				_, refused := client.Error(wire.SecretType, "identity")
				return refused || holds(client, wire.SecretType)() || client.Err() != nil
			})
			if client.Err() != nil {
				t.Errorf("%s: the stream ends with %v", name, client.Err())
			}
			if k.want {
				r.eventually("listeners: "+name, holds(client, wire.ListenerType))
			}
			if got := holds(client, wire.SecretType)(); got != k.want {
				t.Errorf("%s: it gets the key: %v", name, got)
			}
			if got := holds(client, wire.ListenerType)(); got != k.want {
				t.Errorf("%s: it gets listeners: %v", name, got)
			}
		}
		if without, err := r.connect(webNode, c.client("")); err == nil {
			_ = without.Wildcard(wire.ListenerType)
			r.eventually("refusal of a client without certificate", func() bool { return without.Err() != nil })
		}
	})
}

// otherMesh is a second mesh, whose web has the parameters of the first one's.
const otherMesh = `
type: Dataplane
mesh: other
name: web
networking:
  address: 10.1.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
  outbound: [{port: 1000, tags: {kuma.io/service: db}}]
---
type: Dataplane
mesh: other
name: db
networking:
  address: 10.1.0.2
  inbound: [{port: 80, tags: {kuma.io/service: db}}]
`

// TestClientParameters gives each client the resources for the parameters of its own
// dataplane, and none for others. Without a tag, parameters could select the resources of
// another dataplane.
func TestClientParameters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCredentials(t)
		r := start(t, map[string]string{"mesh.yaml": mesh, "identity.yaml": identity, "other.yaml": otherMesh}, func(o *serve.Options) {
			o.TLS, o.Relays, o.State = c.files(), []string{relayID}, t.TempDir()
		})
		set := resourcetest.Decode(t, mesh)
		own := map[string]variant.Parameters{}
		for _, d := range set.Dataplanes {
			own[d.Name] = variant.ParametersOf(d, 0)
		}
		incomplete := maps.Clone(own["web"])
		delete(incomplete, resource.ServiceTag)
		more, other := maps.Clone(own["web"]), maps.Clone(own["web"])
		more["team"], other[resource.ServiceTag] = "a", "api"
		for name, k := range map[string]struct {
			id         string
			parameters variant.Parameters
			want       bool
		}{
			"its own":                {webID, own["web"], true},
			"a name of another mesh": {webID, own["web"], false},
			"a relay, another mesh":  {relayID, own["web"], true},
			"its own, without one":   {webID, incomplete, false},
			"its own, and one more":  {webID, more, false},
			"its own, one changed":   {webID, other, false},
			"another one's":          {webID, own["api"], false},
			"none":                   {webID, nil, false},
			"a relay":                {relayID, own["web"], true},
			"an ID of no dataplane":  {"spiffe://default.mesh.local/other", own["web"], false},
		} {
			client, locator := r.client("", c.client(k.id)), xdstest.Locator{Name: "default/api", Parameters: k.parameters}
			if strings.HasSuffix(name, "another mesh") {
				locator.Name = "other/db"
			}
			if err := client.SubscribeLocators(wire.ClusterType, locator); err != nil {
				t.Fatal(err)
			}
			var held, refused bool
			r.eventually("answer: "+name, func() bool {
				code, failed := client.Error(wire.ClusterType, locator.Name)
				_, held = client.Located(wire.ClusterType, locator)
				refused = failed && code == codes.PermissionDenied
				return held || refused
			})
			if held != k.want || refused == k.want {
				t.Errorf("%s: it gets the cluster %v, is refused %v", name, held, refused)
			}
		}
	})
}

// TestHTTPS asks for a client certificate, except for health checks.
func TestHTTPS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCredentials(t)
		r := start(t, map[string]string{"mesh.yaml": mesh}, func(o *serve.Options) { o.TLS, o.Operators = c.files(), []string{relayID} })
		for _, k := range []struct {
			path, id string
			want     int
		}{
			{"/healthz", "", http.StatusOK}, {"/readyz", "", http.StatusOK}, {"/metrics", "", http.StatusUnauthorized},
			{"/meshes", "", http.StatusUnauthorized}, {"/healthz/..", "", http.StatusUnauthorized}, {"/meshes", webID, http.StatusForbidden}, {"/metrics", webID, http.StatusForbidden}, {"/meshes", relayID, http.StatusOK}, {"/metrics", relayID, http.StatusOK},
		} {
			if status, body, err := r.get(k.path, c.client(k.id)); err != nil || status != k.want {
				t.Errorf("%s as %q: got %d, %v, want %d: %s", k.path, k.id, status, err, k.want, body)
			}
		}
		if status, _, err := r.get("/healthz", nil); err == nil && status == http.StatusOK {
			t.Error("it answers without TLS")
		}
		r.eventually("warning", func() bool {
			return strings.Contains(r.log.String(), apiNode+" and 1 more dataplane of the mesh default have no identity, so over TLS they are served to no client")
		})
	})
}

// TestReload replaces the certificate of the server, and the CA of its clients.
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCredentials(t)
		r := start(t, map[string]string{"mesh.yaml": mesh}, func(o *serve.Options) { o.TLS, o.Operators = c.files(), []string{webID} })
		works := func() bool {
			status, _, err := r.get("/meshes", c.client(webID))
			return err == nil && status == http.StatusOK
		}
		r.eventually("answer", works)
		c.replace()
		r.eventually("answer with the new certificate", works)

		before := c.authority
		var err error
		if c.authority, err = ca.Generate("next", time.Now()); err != nil {
			t.Fatal(err)
		}
		c.write("clients.pem", c.authority.Bundle())
		r.eventually("answer to a client of the new CA", works)
		c.authority = before
		if works() {
			t.Error("a client of the old CA is answered")
		}
		c.write("server.key", []byte("no key"))
		r.eventually("line in the log", func() bool {
			works()
			return strings.Contains(r.log.String(), "the previous ones stay in use")
		})
		if status, _, err := r.get("/healthz", c.client("")); err != nil || status != http.StatusOK {
			t.Errorf("after a bad key: %d, %v", status, err)
		}
	})
}

// TestADSHandshake makes each handshake of ADS with the current certificate, and refuses a
// client that does not offer HTTP/2.
func TestADSHandshake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCredentials(t)
		r := start(t, map[string]string{"mesh.yaml": mesh}, func(o *serve.Options) { o.TLS = c.files() })
		// handshake returns the certificate of the server, and whether the connection is open.
		handshake := func(protocols ...string) (certificate []byte, open bool) {
			raw, err := r.dial(t.Context(), r.XDSAddr().String())
			if err != nil {
				t.Fatal(err)
			}
			config := c.client(webID)
			config.NextProtos, config.ServerName = protocols, "127.0.0.1"
			conn := tls.Client(raw, config)
			defer conn.Close()
			if err := conn.HandshakeContext(t.Context()); err != nil {
				return nil, false
			}
			first := make([]byte, 1) // the server sends its settings
			_, err = conn.Read(first)
			return conn.ConnectionState().PeerCertificates[0].Raw, err == nil
		}
		before, open := handshake("h2")
		if !open {
			t.Error("a client that offers HTTP/2 is refused")
		}
		if _, open := handshake("http/1.1"); open {
			t.Error("a client without HTTP/2 is not refused")
		}
		if _, open := handshake(); open {
			t.Error("a client without ALPN is not refused")
		}
		c.replace()
		r.eventually("a handshake with the new certificate", func() bool {
			after, open := handshake("h2")
			return open && !bytes.Equal(before, after)
		})
	})
}

// TestKeysOnLoopback serves the keys of Bundled identities and of external services without TLS
// on loopback, and to no other address. After a restart the CA is the same.
func TestKeysOnLoopback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := t.TempDir()
		files := map[string]string{"mesh.yaml": meshWithKey(t), "identity.yaml": identity}
		var trusts []string
		for range 2 {
			r := start(t, files, func(o *serve.Options) { o.State = state })
			client := r.client(webNode, nil)
			if err := client.Subscribe(wire.SecretType, "identity", "trust", externalKey); err != nil {
				t.Fatal(err)
			}
			r.eventually("secrets", func() bool { return len(client.Named(wire.SecretType)) == 3 })
			var secret tlsv3.Secret
			if err := proto.Unmarshal([]byte(client.Named(wire.SecretType)["identity"].Body), &secret); err != nil {
				t.Fatal(err)
			}
			block, _ := pem.Decode(secret.GetTlsCertificate().CertificateChain.GetInlineBytes())
			if certificate, err := x509.ParseCertificate(block.Bytes); err != nil || certificate.URIs[0].String() != webID {
				t.Errorf("certificate %v, %v", certificate, err)
			}
			trusts = append(trusts, client.Named(wire.SecretType)["trust"].Body)
			if err := r.stop(); err != nil {
				t.Error(err)
			}
		}
		if trusts[0] != trusts[1] {
			t.Error("another CA after a restart")
		}

		r := start(t, files, func(o *serve.Options) {
			o.State, o.XDS, o.Insecure = state, "0.0.0.0:0", true
			o.Remedy = func(err error) string {
				if errors.Is(err, serve.ErrKeysNotServed) {
					return "use TLS"
				}
				return ""
			}
		})
		client := r.client(webNode, nil)
		if err := client.Subscribe(wire.SecretType, "identity", externalKey); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"identity", externalKey} {
			r.eventually("refusal of "+key, func() bool { _, refused := client.Error(wire.SecretType, key); return refused })
		}
		if !strings.Contains(r.log.String(), serve.ErrKeysNotServed.Error()+"; use TLS") {
			t.Errorf("the log does not have the reason and the remedy:\n%s", r.log)
		}
	})
}

// TestRenewal has certificates that live for two seconds.
func TestRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		short := strings.Replace(identity, "autogenerate", "certificateParameters: {expiry: 2s}, autogenerate", 1)
		r := start(t, map[string]string{"mesh.yaml": mesh, "identity.yaml": short}, func(o *serve.Options) { o.State = t.TempDir() })
		client := r.client(webNode, nil)
		if err := client.Subscribe(wire.SecretType, "identity", "trust"); err != nil {
			t.Fatal(err)
		}
		version := func(name string) string { return client.Named(wire.SecretType)[name].Version }
		r.eventually("secrets", func() bool { return len(client.Named(wire.SecretType)) == 2 })
		first, trust := version("identity"), version("trust")
		r.eventually("renewal", func() bool { return version("identity") != first })
		if version("trust") != trust {
			t.Error("the trust has changed")
		}
	})
}

// TestAdmissionListener answers a review over TLS of its own, which asks for no certificate of
// a client unless CAs are given. The other listeners stay without TLS.
func TestAdmissionListener(t *testing.T) {
	own := newCredentials(t)
	const review = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE","kind":{"group":"kuma.io","kind":"MeshTimeout"},
		"object":{"apiVersion":"kuma.io/v1alpha1","kind":"MeshTimeout","metadata":{"name":"t","namespace":"shop"},"spec":{"to":[{"default":{"connectionTimeout":"x"}}]}}}}`
	for _, withCA := range []bool{false, true} {
		s := startReal(t, map[string]string{"mesh.yaml": mesh}, func(o *serve.Options) {
			o.Admission, o.AdmissionTLS = "127.0.0.1:0", *own.files()
			if !withCA {
				o.AdmissionTLS.ClientCA = ""
			}
		})
		ask := func(id string) (string, error) {
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: own.client(id)}}
			defer client.CloseIdleConnections()
			response, err := client.Post("https://"+s.AdmissionAddr().String(), "application/json", strings.NewReader(review))
			if err != nil {
				return "", err
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			return string(body), err
		}
		if answer, err := ask("spiffe://cluster/api-server"); err != nil || !strings.Contains(answer, `"allowed":false`) {
			t.Errorf("%v: %s", err, answer)
		}
		if answer, err := ask(""); (err == nil) == withCA {
			t.Errorf("with CAs %v, a client without a certificate: %v %s", withCA, err, answer)
		}
	}
}
