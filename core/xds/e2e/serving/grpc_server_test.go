package serving

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	xdscredentials "google.golang.org/grpc/credentials/xds"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"

	"github.com/meshmatch/meshmatch/core/xds/e2e/envoytest"
)

// identities gives each dataplane the SPIFFE ID spiffe://default.mesh.local/NAME. A gRPC
// server has its certificate from its own bootstrap, and reads none of the files.
const identities = `
{type: MeshIdentity, name: identities, spec: {selector: {dataplane: {matchLabels: {}}}, spiffeID: {path: "/{{ .Name }}"},
  provider: {type: Extension, extension: {name: files, config: {certificate: /unread.pem, privateKey: /unread.key, trustBundle: /unread.ca}}}}}
`

const (
	trustDomain    = "spiffe://default.mesh.local/"
	grpcServerNode = "kri_dp_default___greeter-1_"
)

// allowed permits the calls of one dataplane.
func allowed(name string) string {
	return fmt.Sprintf(`{type: MeshTrafficPermission, name: all, spec: {rules: [{default: {allow: [{spiffeId: {type: Exact, value: %q}}]}}]}}`, trustDomain+name)
}

// startServer starts the gRPC server of the dataplane greeter-1, which has its listener
// from a server of a mesh and its certificate from the CA.
func (m *mesh) startServer(server string, ca *envoytest.Authority) (address string) {
	m.t.Helper()
	files := m.t.TempDir()
	ca.WriteFiles(m.t, files, "server", trustDomain+"greeter-1")
	listener, err := net.Listen("tcp", m.network.Replace("127.0.0.31:10000"))
	if err != nil {
		m.t.Fatal(err)
	}
	bootstrap := fmt.Sprintf(`{
		"xds_servers": [{"server_uri": %q, "channel_creds": [{"type": "insecure"}], "server_features": ["xds_v3"]}],
		"node": {"id": %q},
		"server_listener_resource_name_template": %q,
		"certificate_providers": {"default": {"plugin_name": "file_watcher", "config": {
			"certificate_file": %q, "private_key_file": %q, "ca_certificate_file": %q}}}
	}`, m.network.Replace(server), grpcServerNode, m.network.Replace("inbound/127.0.0.31/10000"),
		filepath.Join(files, "server.pem"), filepath.Join(files, "server.key"), filepath.Join(files, "ca.pem"))
	secured, err := xdscredentials.NewServerCredentials(xdscredentials.ServerOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		m.t.Fatal(err)
	}
	s, err := xds.NewGRPCServer(grpc.Creds(secured), xds.BootstrapContentsForTesting([]byte(bootstrap)))
	if err != nil {
		m.t.Fatal(err)
	}
	healthv1.RegisterHealthServer(s, health.NewServer())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(listener) }()
	m.t.Cleanup(func() {
		s.Stop()
		if err := <-ended; err != nil {
			m.t.Error(err)
		}
	})
	return listener.Addr().String()
}

// callAs returns the status of a call by a client with the certificate of a dataplane.
func callAs(t *testing.T, ca *envoytest.Authority, name, address string) codes.Code {
	t.Helper()
	config := &tls.Config{
		Certificates:       []tls.Certificate{ca.Issue(t, trustDomain+name)},
		InsecureSkipVerify: true, // the certificate of the server has no host name
	}
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(config)))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err = healthv1.NewHealthClient(conn).Check(ctx, &healthv1.HealthCheckRequest{})
	return status.Code(err)
}

// A gRPC server admits the clients that the permissions of its dataplane allow, by their
// certificates, and follows changes.
func TestGRPCServer(t *testing.T) {
	t.Parallel()
	m := newMesh(t, map[string]string{"greeter.yaml": greeter(1), "identities.yaml": identities, "permission.yaml": allowed("web")})
	server := m.serve(firstReplica)
	ca := envoytest.NewAuthority(t)
	address := m.startServer(firstReplica, ca)
	server.waitConverged(1)
	expect := func(name string, want codes.Code) {
		t.Helper()
		eventually(t, fmt.Sprintf("%s gets %s", name, want), func() bool { return callAs(t, ca, name, address) == want })
	}
	expect("web", codes.OK)
	expect("api", codes.PermissionDenied)

	m.write("permission.yaml", allowed("api"))
	expect("web", codes.PermissionDenied)
	expect("api", codes.OK)

	server.stop()
	expect("api", codes.OK)
	expect("web", codes.PermissionDenied)
	server = m.serve(firstReplica)
	server.waitConverged(1)
	server.sentOnly()
	if got := server.metric("xds_nacks_total"); got != 0 {
		t.Errorf("%d NACKs", got)
	}
}
