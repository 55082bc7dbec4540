package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"slices"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

var now = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)

func load(t *testing.T, more ...string) (*core.Engine, *core.View) {
	t.Helper()
	set, err := (&resource.Loader{Kinds: kinds.All()}).Load(t.Context(), append(more, "../embed/mesh.yaml", "batch.yaml")...)
	if err != nil {
		t.Fatal(err)
	}
	engine := core.NewEngine(kinds.All(), core.Options{Semantics: core.Detect(set)})
	commit, err := engine.Apply(t.Context(), core.Batch{Upsert: set})
	if err != nil {
		t.Fatal(err)
	}
	return engine, commit.After
}

// Dataplanes have the same message for a resource that they share, and messages and snapshots
// that are no longer used are dropped.
func TestPush(t *testing.T) {
	engine, view := load(t)
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	p := newPusher(cache)
	if _, err := p.push(t.Context(), view, now); err != nil {
		t.Fatal(err)
	}
	references := 0
	for _, s := range p.pushed {
		for typ := range wire.Type(wire.NumTypes) {
			references += len(s.Resources(typ))
		}
	}
	if len(p.messages) >= references || len(p.messages) == 0 {
		t.Errorf("%d resources of the dataplanes have %d messages", references, len(p.messages))
	}
	gone := view.Dataplanes("default")[0]
	commit, err := engine.Apply(t.Context(), core.Batch{Delete: []resource.ID{gone.ID}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.push(t.Context(), commit.After, now); err != nil {
		t.Fatal(err)
	}
	if _, err := cache.GetSnapshot(gone.KRI("")); err == nil || len(p.pushed) != 1 {
		t.Errorf("%s is still served", gone.Name)
	}
}

// A refused answer is reported.
func TestServe(t *testing.T) {
	_, view := load(t)
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	if _, err := newPusher(cache).push(t.Context(), view, now); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	nacks := make(chan string, 1)
	go func() {
		_ = serve(t.Context(), listener, cache, func(_, message string) { nacks <- message })
	}()
	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	request := &discoveryv3.DiscoveryRequest{TypeUrl: wire.ClusterType.URL(), Node: &corev3.Node{Id: view.Dataplanes("default")[0].KRI("")}}
	if err := stream.Send(request); err != nil {
		t.Fatal(err)
	}
	response, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	request.ResponseNonce, request.ErrorDetail = response.Nonce, &statusv3.Status{Message: "no"}
	if err := stream.Send(request); err != nil {
		t.Fatal(err)
	}
	if got := <-nacks; got != "no" {
		t.Errorf("the client refuses with %q", got)
	}
}

// A dataplane has a certificate that its peers accept, and gets the next one before it ends. Nothing else is pushed then.
func TestSecrets(t *testing.T) {
	_, view := load(t, "identity.yaml")
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	p := newPusher(cache)
	p.signer = newSigner(t)
	var last []byte
	for _, step := range []struct {
		after time.Duration
		want  []string
	}{{0, []string{"batch-1", "web-1"}}, {lifetime/2 - 1, nil}, {lifetime / 2, []string{"batch-1", "web-1"}}} {
		at := now.Add(step.after)
		names, err := p.push(t.Context(), view, at)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(names, step.want) {
			t.Errorf("after %v, %q are pushed, not %q", step.after, names, step.want)
		}
		s, err := cache.GetSnapshot("kri_dp_default___web-1_")
		if err != nil {
			t.Fatal(err)
		}
		secrets := s.GetResources(wire.SecretType.URL())
		identity := secrets["identity"].(*tlsv3.Secret).GetTlsCertificate()
		chain, key := identity.CertificateChain.GetInlineBytes(), identity.PrivateKey.GetInlineBytes()
		pair, err := tls.X509KeyPair(chain, key)
		if err != nil {
			t.Fatal(err)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(secrets["trust"].(*tlsv3.Secret).GetValidationContext().TrustedCa.GetInlineBytes())
		for _, usage := range []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth} {
			if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: at, KeyUsages: []x509.ExtKeyUsage{usage}}); err != nil {
				t.Error(err)
			}
		}
		if got := fmt.Sprint(pair.Leaf.URIs); got != "[spiffe://shop.mesh/dataplane/web-1]" {
			t.Errorf("the certificate is of %s", got)
		}
		if changed := !bytes.Equal(chain, last); changed != (step.want != nil) {
			t.Errorf("after %v, the certificate changes: %v", step.after, changed)
		}
		last = chain
	}
}

func newSigner(t *testing.T) *signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: now, NotAfter: now.Add(10 * lifetime), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if ca, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return &signer{ca, key}
}
