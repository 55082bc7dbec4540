package serving

import (
	"cmp"
	"context"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A mesh is a directory of files whose addresses are on a network of the test.
type mesh struct {
	t            *testing.T
	network      *envoytest.Network
	dir          string
	certificates string // the directory of certificates
	semantics    semantics.Semantics
}

func newMesh(t *testing.T, files map[string]string) *mesh {
	t.Helper()
	network, err := envoytest.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	m := &mesh{t: t, network: network, dir: t.TempDir(), semantics: semantics.TargetRef, certificates: t.TempDir()}
	for name, content := range files {
		m.write(name, content)
	}
	return m
}

// write replaces a file atomically, so that no reader sees part of it.
func (m *mesh) write(name, content string) {
	m.t.Helper()
	scratch := filepath.Join(m.t.TempDir(), name)
	if err := os.WriteFile(scratch, []byte(m.network.Replace(content)), 0o644); err != nil {
		m.t.Fatal(err)
	}
	if err := os.Rename(scratch, filepath.Join(m.dir, name)); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mesh) remove(name string) {
	m.t.Helper()
	if err := os.Remove(filepath.Join(m.dir, name)); err != nil {
		m.t.Fatal(err)
	}
}

// startApp starts a workload.
func (m *mesh) startApp(name, address string) *envoytest.App {
	m.t.Helper()
	app, err := envoytest.NewApp(name, m.network.Replace(address))
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(func() { _ = app.Close() })
	return app
}

// startProxy starts the Envoy of a dataplane, which fetches its resources by a protocol
// from a server.
func (m *mesh) startProxy(name string, protocol corev3.ApiConfigSource_ApiType, server, admin string, changes ...func(*bootstrapv3.Bootstrap)) *envoytest.Proxy {
	m.t.Helper()
	return m.startEnvoy(envoytest.Path(m.t), name, protocol, server, admin, changes...)
}

// startEnvoy is startProxy for a binary. If the changes give the node a drain time, the proxy
// is started with it.
func (m *mesh) startEnvoy(binary, name string, protocol corev3.ApiConfigSource_ApiType, server, admin string, changes ...func(*bootstrapv3.Bootstrap)) *envoytest.Proxy {
	m.t.Helper()
	d, _ := m.dataplane(name)
	bootstrap := bootstrap.ADS(d, nil, m.server(server), bootstrap.Options{Admin: netip.MustParseAddrPort(m.network.Replace(admin))})
	bootstrap.DynamicResources.AdsConfig.ApiType = protocol
	for _, change := range changes {
		change(bootstrap)
	}
	config, err := message.JSON(bootstrap)
	if err != nil {
		m.t.Fatal(err)
	}
	var args []string
	if drain := bootstrap.Node.Metadata.GetFields()[wire.DrainMetadata].GetStringValue(); drain != "" {
		args = []string{"--drain-time-s", strings.TrimSuffix(drain, "s")}
	}
	proxy, err := envoytest.Run(binary, m.t.TempDir(), name, config, args...)
	if err != nil {
		m.t.Fatal(err)
	}
	m.t.Cleanup(proxy.Stop)
	m.t.Cleanup(func() {
		if m.t.Failed() {
			m.t.Logf("%s: %s", name, cmp.Or(proxy.Log(), "no errors"))
		}
	})
	return proxy
}

// dataplane returns a dataplane of the files and its identity, which may be nil.
func (m *mesh) dataplane(name string) (*resource.Dataplane, *identity.Identity) {
	m.t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	set, err := loader.Load(context.Background(), m.dir)
	if err != nil {
		m.t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(context.Background(), loader.Kinds, set)
	if err != nil {
		m.t.Fatal(err)
	}
	d := view.Dataplane(resource.ID{Kind: resource.DataplaneKind, Mesh: "default", Name: name})
	id, err := view.Identities(d.Mesh).IdentityOf(d)
	if err != nil {
		m.t.Fatal(err)
	}
	return d, id
}

// server returns the server at an address.
func (m *mesh) server(address string) bootstrap.Server {
	at := netip.MustParseAddrPort(m.network.Replace(address))
	return bootstrap.Server{Host: at.Addr().String(), Port: at.Port()}
}

// grpcBootstrap returns the bootstrap of a dataplane that is gRPC.
func (m *mesh) grpcBootstrap(name, server string) []byte {
	m.t.Helper()
	d, id := m.dataplane(name)
	bootstrap, err := bootstrap.GRPC(d, id, m.server(server))
	if err != nil {
		m.t.Fatal(err)
	}
	data, err := json.Marshal(bootstrap)
	if err != nil {
		m.t.Fatal(err)
	}
	return data
}

// eventually waits until a condition is met.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for limit := envoytest.Limit(t); !condition(); time.Sleep(10 * time.Millisecond) {
		if limit.Err() != nil {
			t.Fatalf("not before the test ends: %s", what)
		}
	}
}
