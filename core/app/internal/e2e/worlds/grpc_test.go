package worlds

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/test/bufconn"
	grpcxds "google.golang.org/grpc/xds"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"github.com/meshmatch/meshmatch/fuzz"
)

// grpcWorlds is how many meshes gRPC is given; SOAK multiplies it.
const grpcWorlds = 15

// callers are added to each mesh: a client of all services, and an endpoint with a host
// name.
const callers = `
---
{type: Dataplane, mesh: default, name: caller, networking: {address: 10.9.9.9,
  inbound: [{port: 80, protocol: grpc, tags: {kuma.io/service: caller, version: v1, team: x}}],
  outbound: [
    {port: 81, tags: {kuma.io/service: web, kuma.io/protocol: grpc}},
    {port: 82, tags: {kuma.io/service: api, kuma.io/protocol: http}},
    {port: 83, tags: {kuma.io/service: db, kuma.io/protocol: http2}},
    {port: 84, tags: {kuma.io/service: named, kuma.io/protocol: grpc}}]}}
---
{type: Dataplane, mesh: default, name: named, networking: {address: 10.9.9.8, advertisedAddress: localhost,
  inbound: [{port: 80, protocol: grpc, tags: {kuma.io/service: named}}, {port: 81, protocol: grpc, tags: {kuma.io/service: web}}]}}
`

// gRPC accepts each resource of a snapshot for gRPC (SPEC 11.4): clients resolve each
// listener that has its name for them, and servers get the listener and the routes of
// each inbound.
func TestGRPCAcceptsRandomWorlds(t *testing.T) {
	generator, err := fuzz.NewGenerator(kinds.All())
	if err != nil {
		t.Fatal(err)
	}
	w := newGRPCWorld(t)
	worlds := grpcWorlds * fuzz.Soak(t)
	if testing.Short() {
		worlds = 5
	}
	for seed := range uint64(worlds) {
		for _, d := range world(t, generator, seed, callers+identitiesOf(seed, w.dir)) {
			w.add(fmt.Sprint(seed), d)
		}
	}
	w.check(worlds, worlds)
}

// fieldsOfKinds has a mesh, and for each kind policies with all fields.
const fieldsOfKinds = "../../../../xds/translators/testdata/fields"

// gRPC accepts what policies with all fields of each kind become.
func TestGRPCAcceptsAllFields(t *testing.T) {
	w := newGRPCWorld(t)
	base, err := os.ReadFile(filepath.Join(fieldsOfKinds, "world.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds.All().All() {
		policies, err := os.ReadFile(filepath.Join(fieldsOfKinds, kind.Name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		list, err := load(t.Context(), semantics.TargetRef, kinds.All(), kind.Name, resource.Input{Name: "world.yaml", Data: base}, resource.Input{Name: kind.Name + ".yaml", Data: policies})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			if len(d.dataplane.Outbounds) > 0 { // the others have no inbounds of another shape
				w.add(kind.Name, d)
			}
		}
	}
	w.check(16*4, 16*4)
}

// check calls each name and listens for each inbound. There must be at least the given
// numbers of them.
func (w *grpcWorld) check(minNames, minInbounds int) {
	t := w.t
	w.serve()
	clients, servers := 0, 0
	for _, node := range w.nodes {
		for _, listener := range node.snapshot.API() {
			w.call(node, listener.Name)
			clients++
		}
		for _, listener := range node.snapshot.Resources(wire.ListenerType) {
			w.listen(node, listener)
			servers++
		}
		for name, of := range w.ads.Status(node.id).Types {
			if of.NACK != nil {
				t.Errorf("%s: gRPC rejects %s: %s\n%s", node.id, name, of.NACK.Message, node.title)
			}
		}
	}
	t.Logf("%d names were resolved, and %d inbounds served", clients, servers)
	if clients < minNames || servers < minInbounds {
		t.Errorf("%d names and %d inbounds are too few; want %d and %d", clients, servers, minNames, minInbounds)
	}
}

// grpcNode is a dataplane that is gRPC.
type grpcNode struct {
	id, title string
	snapshot  *snapshot.Snapshot
	served    wire.Snapshot
}

// grpcWorld is many meshes in one server. Each connection to an endpoint leads to one
// application.
type grpcWorld struct {
	t         *testing.T
	dir       string
	nodes     []*grpcNode
	byID      map[string]*grpcNode
	ads       *server.Server
	bootstrap string // with %q for the id of the node
	app       *bufconn.Listener
}

func newGRPCWorld(t *testing.T) *grpcWorld {
	dir := t.TempDir()
	envoytest.NewAuthority(t).WriteFiles(t, dir, "dataplane", "spiffe://default.mesh.local/dataplane")
	return &grpcWorld{t: t, dir: dir, byID: map[string]*grpcNode{}, app: bufconn.Listen(1 << 16)}
}

// add adds a dataplane of a mesh.
func (w *grpcWorld) add(mesh string, d dataplane) {
	n := &grpcNode{id: mesh + "/" + d.dataplane.KRI(""), title: d.title, snapshot: d.state.Snapshot(d.dataplane, xds.ProxylessGRPC)}
	for of := range wire.Type(wire.NumTypes) {
		n.served[of].Listed = n.snapshot.Resources(of)
	}
	n.served[wire.ListenerType].Named = n.snapshot.API()
	w.nodes = append(w.nodes, n)
	w.byID[n.id] = n
}

// Current implements [server.Source].
func (w *grpcWorld) Current() (server.State, <-chan struct{}) { return w, nil }

// Node implements [server.State].
func (w *grpcWorld) Node(node *server.Node) (*wire.Snapshot, bool) {
	n := w.byID[node.ID]
	if n == nil {
		return nil, false
	}
	return &n.served, true
}

// Locate implements [server.State].
func (w *grpcWorld) Locate(*server.Node, wire.Type, string, map[string]string) (wire.Variant, bool) {
	return wire.Variant{}, false
}

// serve starts the server and the application, until the test ends.
func (w *grpcWorld) serve() {
	w.ads = server.New(server.Options{Source: w})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	ads := grpc.NewServer(w.ads.GRPCOptions(nil)...)
	w.ads.Register(ads)
	app := grpc.NewServer()
	healthv1.RegisterHealthServer(app, health.NewServer())
	for s, l := range map[*grpc.Server]net.Listener{ads: listener, app: w.app} {
		go func() { _ = s.Serve(l) }()
		w.t.Cleanup(s.Stop)
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	w.t.Cleanup(cancel)
	go w.ads.Run(ctx)
	w.bootstrap = fmt.Sprintf(`{
		"xds_servers": [{"server_uri": %q, "channel_creds": [{"type": "insecure"}]}],
		"node": {"id": %%q},
		"server_listener_resource_name_template": %q,
		"certificate_providers": {"default": {"plugin_name": "file_watcher", "config": {
			"certificate_file": %q, "private_key_file": %q, "ca_certificate_file": %q}}}
	}`, listener.Addr(), strings.Replace(message.GRPCServerTemplate, "%s", "%%s", 1),
		filepath.Join(w.dir, "dataplane.pem"), filepath.Join(w.dir, "dataplane.key"), filepath.Join(w.dir, "ca.pem"))
}

func (w *grpcWorld) bootstrapOf(n *grpcNode) []byte { return fmt.Appendf(nil, w.bootstrap, n.id) }

// call makes a call to a name. It may fail, as services without endpoints do, but it must
// not lack a resource.
func (w *grpcWorld) call(n *grpcNode, name string) {
	resolver, err := grpcxds.NewXDSResolverWithConfigForTesting(w.bootstrapOf(n))
	if err != nil {
		w.t.Fatal(err)
	}
	conn, err := grpc.NewClient("xds:///"+url.PathEscape(name), grpc.WithResolvers(resolver),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return w.app.DialContext(ctx) }))
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	_, err = healthv1.NewHealthClient(conn).Check(envoytest.Limit(w.t), &healthv1.HealthCheckRequest{})
	if err == nil || slices.ContainsFunc(expectedFailures, func(text string) bool { return strings.Contains(err.Error(), text) }) {
		return
	}
	w.t.Errorf("%s: %s: %v\n%s", n.id, name, err, n.title)
}

// expectedFailures are the messages of calls that fail as the mesh is.
var expectedFailures = []string{
	"no targets to pick from",                                   // a service without endpoints
	"matched route does not have a supported route action type", // a redirection
}

// listen serves an inbound until gRPC has what it needs for it.
func (w *grpcWorld) listen(n *grpcNode, r *wire.Resource) {
	m, err := message.Decode(r)
	if err != nil {
		w.t.Fatal(err)
	}
	at := m.(*listenerv3.Listener).Address.GetSocketAddress()
	modes := make(chan grpcxds.ServingModeChangeArgs, 10)
	s, err := grpcxds.NewGRPCServer(grpcxds.BootstrapContentsForTesting(w.bootstrapOf(n)),
		grpcxds.ServingModeCallback(func(_ net.Addr, args grpcxds.ServingModeChangeArgs) { modes <- args }))
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Stop()
	address := &net.TCPAddr{IP: net.ParseIP(at.Address), Port: int(at.GetPortValue())}
	go func() { _ = s.Serve(&idleListener{address: address, closed: make(chan struct{})}) }()
	select {
	case args := <-modes:
		if args.Mode != connectivity.ServingModeServing {
			w.t.Errorf("%s: %s: %v\n%s", n.id, r.Name, args.Err, n.title)
		}
	case <-envoytest.Limit(w.t).Done():
		w.t.Errorf("%s: %s: gRPC does not serve\n%s", n.id, r.Name, n.title)
	}
}

// idleListener listens on an address that this machine need not have.
type idleListener struct {
	address net.Addr
	closed  chan struct{}
}

func (l *idleListener) Addr() net.Addr { return l.address }
func (l *idleListener) Close() error   { close(l.closed); return nil }
func (l *idleListener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, errors.New("closed")
}
