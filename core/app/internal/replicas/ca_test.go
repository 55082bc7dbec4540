package replicas

import (
	"crypto/x509"
	"encoding/pem"
	"testing"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd"
	"github.com/meshmatch/meshmatch/core/app/internal/source/etcd/etcdtest"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Two replicas that start at the same time issue certificates of one generated CA, which
// is in the etcd. Another replica still does so later, after the first ones are gone.
func TestSharedCA(t *testing.T) {
	server := etcdtest.Start(t)
	c := server.Client()
	t.Cleanup(func() { c.Close() })
	network, err := envoytest.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	for id, document := range map[resource.ID]string{
		id(&client): client.Universal(),
		{Kind: "MeshIdentity", Mesh: "default", Name: "identity"}: `{"type": "MeshIdentity", "mesh": "default", "name": "identity",
			"spec": {"selector": {"dataplane": {"matchLabels": {}}}, "provider": {"type": "Bundled", "bundled": {"autogenerate": {"enabled": true}}}}}`,
	} {
		if _, err := c.Put(t.Context(), "mesh/"+etcd.Key(id), document); err != nil {
			t.Fatal(err)
		}
	}
	arguments := []string{"-f", server.URL("mesh"), "--ca-prefix", "authorities"}
	first, second := newReplica(t, network, 0, nil, arguments...), newReplica(t, network, 1, nil, arguments...)
	first.ready()
	second.ready()
	a, b := secretsOf(t, first), secretsOf(t, second)
	third := newReplica(t, network, 2, nil, arguments...)
	third.ready()
	first.kill()
	second.kill()
	for _, pair := range [][2]secrets{{a, b}, {b, a}, {a, secretsOf(t, third)}} {
		if _, err := pair[0].certificate.Verify(x509.VerifyOptions{Roots: pair[1].roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}}); err != nil {
			t.Errorf("the certificate of one replica is not valid for the CAs of another one: %v", err)
		}
	}
	kept, err := c.Get(t.Context(), "authorities/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	if err != nil || len(kept.Kvs) != 1 {
		t.Errorf("below the prefix are %d keys, %v", len(kept.Kvs), err)
	}
}

// secrets are what a proxy gets of a replica.
type secrets struct {
	certificate *x509.Certificate
	roots       *x509.CertPool
}

func secretsOf(t *testing.T, r *replica) (got secrets) {
	t.Helper()
	s := &subscriber{name: r.name, node: "kri_dp_default___client_", replicas: []*replica{r}, secrets: true}
	s.start(t)
	secret := func(name string) *tlsv3.Secret {
		t.Helper()
		var m tlsv3.Secret
		eventually(t, r.name+" has the secret "+name, func() bool { return s.held(wire.SecretType, name) != "" })
		if err := proto.Unmarshal([]byte(s.held(wire.SecretType, name)), &m); err != nil {
			t.Fatal(err)
		}
		return &m
	}
	block, _ := pem.Decode(secret(message.IdentitySecret).GetTlsCertificate().GetCertificateChain().GetInlineBytes())
	if block == nil {
		t.Fatal("the certificate is not in PEM")
	}
	var err error
	if got.certificate, err = x509.ParseCertificate(block.Bytes); err != nil {
		t.Fatal(err)
	}
	got.roots = x509.NewCertPool()
	if !got.roots.AppendCertsFromPEM(secret(message.TrustSecret).GetValidationContext().GetTrustedCa().GetInlineBytes()) {
		t.Fatal("there is no CA to trust")
	}
	return got
}
