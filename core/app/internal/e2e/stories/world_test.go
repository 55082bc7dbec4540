package stories

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/resourcetest"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// A world is a running mesh.
type world struct {
	t       *testing.T
	network *envoytest.Network
	dir     string               // /run/mesh of the story
	ca      *envoytest.Authority // of the mesh
	other   *envoytest.Authority // of the trust domain other.example
	// By the name of the dataplane.
	apps    map[string]*envoytest.App
	tcp     map[string]*tcpApp
	proxies map[string]*envoytest.Proxy

	collector *collector
	expected  string // of the step that is done
}

// collectorAddress is where a collector of telemetry listens in each story.
const collectorAddress = "127.0.0.100:4317"

// greeting is what a workload with the tag kuma.io/server-first sends at once.
const greeting = "hello\n"

// start runs the mesh of a story until the test ends.
func start(t *testing.T, s *story, list []xds.Translator) *world {
	network, err := envoytest.NewNetwork()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = network.Close() })
	w := &world{
		t: t, network: network, dir: t.TempDir(), ca: envoytest.NewAuthority(t), other: envoytest.NewAuthority(t),
		apps: map[string]*envoytest.App{}, tcp: map[string]*tcpApp{}, proxies: map[string]*envoytest.Proxy{},
	}
	if w.collector, err = newCollector(w.local(collectorAddress)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.collector.Close() })
	serveNames(t, w)
	serveOutside(t, w)
	view := w.load(s)
	w.startApps(view, s)
	w.startProxies(snapshot.NewBuilder(list, snapshot.Options{Audit: true}).At(view), s)
	return w
}

// local returns a text of a story with the addresses and the directory of the run.
func (w *world) local(text string) string {
	return w.network.Replace(strings.ReplaceAll(text, "/run/mesh", w.dir))
}

func (w *world) load(s *story) *core.View {
	client := w.other.Issue(w.t, outsideClient)
	text := strings.NewReplacer(
		"OTHER-BUNDLE", strconv.Quote(w.other.Bundle()),
		"OTHER-CERTIFICATE", strconv.Quote(envoytest.CertificatePEM(client.Certificate[0])),
		"OTHER-KEY", strconv.Quote(envoytest.KeyPEM(w.t, client)),
	).Replace(w.local(s.mesh))
	set := resourcetest.Decode(w.t, text)
	view, err := core.Options{Semantics: cmp.Or(s.semantics, core.TargetRef)}.NewView(context.Background(), kinds.All(), set)
	if err != nil {
		w.t.Fatal(err)
	}
	return view
}

// dataplane returns the dataplane with a name.
func dataplane(t *testing.T, view *core.View, name string) *resource.Dataplane {
	d := view.Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: name})
	if d == nil {
		t.Fatalf("there is no dataplane %s", name)
	}
	return d
}

// startApps starts the workload of each inbound.
func (w *world) startApps(view *core.View, s *story) {
	for _, d := range view.Dataplanes("default") {
		if slices.Contains(s.down, d.Name) {
			continue
		}
		for i := range d.Inbounds {
			in := &d.Inbounds[i]
			address, port := cmp.Or(in.Address, d.Address), in.Port
			if slices.Contains(s.proxies, d.Name) {
				address, port = in.ServiceAddress, cmp.Or(in.ServicePort, in.Port)
			}
			if slices.Contains(s.silent, d.Name) {
				w.silence(fmt.Sprintf("%s:%d", address, port))
			} else {
				w.startApp(d.Name, in, fmt.Sprintf("%s:%d", address, port))
			}
		}
	}
}

func (w *world) silence(address string) {
	stop, err := silence(address)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(stop)
}

func (w *world) startApp(name string, in *resource.Inbound, address string) {
	if in.IsHTTP() {
		app, err := envoytest.NewApp(name, address)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { _ = app.Close() })
		w.apps[name] = app
		return
	}
	first := ""
	if in.Tags.Value("kuma.io/server-first") == "true" {
		first = greeting
	}
	app, err := newTCPApp(name, address, first, w.ca.Issue(w.t, "spiffe://workload"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = app.Close() })
	w.tcp[name] = app
}

// startProxies starts the proxies, all at a time.
func (w *world) startProxies(state *snapshot.State, s *story) {
	var mu sync.Mutex
	var wait sync.WaitGroup
	for i, name := range s.proxies {
		d := dataplane(w.t, state.View(), name)
		w.writeIdentity(state.View(), d, s.impostors[name])
		admin := netip.MustParseAddrPort(w.local(fmt.Sprintf("127.0.0.%d:9901", 201+i)))
		snapshot := state.SnapshotFor(d, envoytest.Client(w.t))
		for _, warning := range snapshot.Warnings() {
			w.t.Logf("%s: %s", name, warning)
		}
		bootstrap, err := bootstrap.Static(snapshot, bootstrap.Options{Admin: admin})
		if err != nil {
			w.t.Fatal(err)
		}
		withoutDelays(bootstrap)
		withNames(bootstrap, w)
		withProxyLines(bootstrap, d.Address)
		config, err := message.JSON(bootstrap)
		if err != nil {
			w.t.Fatal(err)
		}
		wait.Go(func() {
			proxy, err := envoytest.Run(envoytest.Path(w.t), w.t.TempDir(), name, config)
			if err != nil {
				w.t.Error(err)
				return
			}
			w.t.Cleanup(proxy.Stop)
			mu.Lock()
			defer mu.Unlock()
			w.proxies[name] = proxy
		})
	}
	wait.Wait()
	if w.t.Failed() {
		w.t.FailNow()
	}
}

// withoutDelays makes a proxy send its spans at once.
func withoutDelays(b *bootstrapv3.Bootstrap) {
	now := map[string]*structpb.Value{}
	for _, tracer := range []string{"zipkin", "opentelemetry"} {
		now["tracing."+tracer+".min_flush_spans"] = structpb.NewNumberValue(1)
		now["tracing."+tracer+".flush_interval_ms"] = structpb.NewNumberValue(50)
	}
	b.LayeredRuntime = &bootstrapv3.LayeredRuntime{Layers: []*bootstrapv3.RuntimeLayer{{
		Name:           "test",
		LayerSpecifier: &bootstrapv3.RuntimeLayer_StaticLayer{StaticLayer: &structpb.Struct{Fields: now}},
	}}}
}

// writeIdentity writes the certificate of a dataplane that has a SPIFFE ID, with another
// one if that is not empty.
func (w *world) writeIdentity(view *core.View, d *resource.Dataplane, other string) {
	id, err := view.Identities(d.Mesh).IdentityOf(d)
	if err != nil {
		w.t.Fatal(err)
	}
	if id != nil {
		w.ca.WriteFiles(w.t, w.dir, d.Name, cmp.Or(other, id.SPIFFEID))
	}
}

// file returns the path of a file in the directory /run/mesh.
func (w *world) file(name string) string { return filepath.Join(w.dir, name) }
