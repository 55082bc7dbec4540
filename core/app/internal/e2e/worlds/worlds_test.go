package worlds

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/fuzz"
)

const (
	// randomWorlds is how many meshes are built; SOAK multiplies it.
	randomWorlds = 400
	// worldsEach is how many of them one Envoy validates.
	worldsEach = 10
)

// part is the bootstrap of one dataplane.
type part struct {
	title     string
	bootstrap *bootstrapv3.Bootstrap
}

func TestEnvoyAcceptsRandomWorlds(t *testing.T) {
	binary := envoytest.Path(t)
	generator, err := fuzz.NewGenerator(kinds.All())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	envoytest.NewAuthority(t).WriteFiles(t, dir, "dataplane", "spiffe://default.mesh.local/dataplane")
	var wait sync.WaitGroup
	batches := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for batch := range batches {
				var parts []part
				for seed := batch * worldsEach; seed < (batch+1)*worldsEach; seed++ {
					for _, d := range world(t, generator, uint64(seed), identitiesOf(uint64(seed), dir)) {
						parts = append(parts, d.part(t))
					}
				}
				validate(t, binary, dir, fmt.Sprintf("batch-%d", batch), parts)
			}
		})
	}
	for batch := range randomWorlds * fuzz.Soak(t) / worldsEach {
		batches <- batch
	}
	close(batches)
	wait.Wait()
}

// A dataplane is one of a random mesh.
type dataplane struct {
	title     string
	dataplane *resource.Dataplane
	state     *snapshot.State
}

// world returns the dataplanes of a random mesh with more documents. Two of three meshes have
// destinations, and are read as Kuma does.
func world(t *testing.T, g *fuzz.Generator, seed uint64, more string) []dataplane {
	by := semantics.TargetRef + semantics.Semantics(seed%3)
	if by != semantics.TargetRef {
		g = g.WithKumaLabels().WithDestinations().ReadBy(by)
	}
	random := rand.New(rand.NewPCG(seed, 3))
	data := make([]byte, 100+random.IntN(1000))
	for i := range data {
		data[i] = byte(random.UintN(256))
	}
	scenario := g.Scenario(data)
	title := fmt.Sprintf("seed %d, %s: %s", seed, by, scenario.YAML())
	list, err := load(t.Context(), by, g.Kinds(), title,
		resource.Input{Name: "scenario.yaml", Data: []byte(scenario.YAML())}, resource.Input{Name: "more.yaml", Data: []byte(more)})
	if err != nil {
		t.Errorf("%s: %v", title, err)
	}
	return list
}

// load returns the dataplanes of files. Title is of their mesh. MeshIdentities whose
// certificates a server signs are left out, because a static bootstrap has no server.
func load(ctx context.Context, by semantics.Semantics, kinds *resource.Kinds, title string, inputs ...resource.Input) (list []dataplane, err error) {
	loader := resource.Loader{Kinds: kinds, Documents: ocm.Documents()}
	set, err := loader.Decode(ctx, inputs...)
	if err != nil {
		return nil, err
	}
	set.Objects = slices.DeleteFunc(set.Objects, func(o resource.Object) bool {
		i, is := o.(*resource.MeshIdentity)
		return is && i.Spec.Provider.Type == spiffe.Bundled
	})
	view, err := core.Options{Semantics: cmp.Or(by, core.TargetRef)}.NewView(ctx, kinds, set)
	if err != nil {
		return nil, err
	}
	state := snapshot.NewBuilder(translators.All(), snapshot.Options{Audit: true}).At(view)
	for _, d := range set.Dataplanes {
		list = append(list, dataplane{d.Name + " of " + title, d, state})
	}
	return list, nil
}

// part returns the bootstrap of a dataplane.
func (d *dataplane) part(t *testing.T) part {
	p, err := d.static(t)
	if err != nil {
		t.Errorf("%s: %v", d.title, err)
	}
	return p
}

// static returns the bootstrap of a dataplane, or what makes its snapshot invalid.
func (d *dataplane) static(t *testing.T) (part, error) {
	bootstrap, err := bootstrap.Static(d.state.SnapshotFor(d.dataplane, envoytest.Client(t)), bootstrap.Options{Admin: netip.MustParseAddrPort("127.0.0.1:0")})
	return part{d.title, bootstrap}, err
}

// identitiesOf gives half of the meshes identities.
func identitiesOf(seed uint64, dir string) string {
	if seed%2 == 1 {
		return ""
	}
	return identities("default", dir) + identities("other", dir)
}

// identities gives the dataplanes of a mesh SPIFFE IDs. All have the same certificate.
func identities(mesh, dir string) string {
	return fmt.Sprintf(`---
type: MeshIdentity
mesh: %s
name: files
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {path: "/{{ .Name }}"}
  provider:
    type: Extension
    extension:
      name: files
      config: {certificate: %[2]s/dataplane.pem, privateKey: %[2]s/dataplane.key, trustBundle: %[2]s/ca.pem}
`, mesh, dir)
}

// validate has Envoy load the parts together, and one by one if it refuses them.
func validate(t *testing.T, binary, dir, name string, parts []part) {
	if len(parts) == 0 {
		return
	}
	if err := loadBootstrap(binary, dir, name, parts); err == nil {
		return
	}
	refused := false
	for i := range parts {
		if err := loadBootstrap(binary, dir, name, parts[i:i+1]); err != nil {
			t.Errorf("%s: %v", parts[i].title, err)
			refused = true
		}
	}
	if !refused {
		t.Errorf("%s: Envoy refuses what it accepts in parts: %v", name, loadBootstrap(binary, dir, name, parts))
	}
}

func loadBootstrap(binary, dir, name string, parts []part) error {
	var all []*bootstrapv3.Bootstrap
	for _, p := range parts {
		all = append(all, p.bootstrap)
	}
	merged, err := merge(all)
	if err != nil {
		return err
	}
	config, err := message.JSON(merged)
	if err != nil {
		return err
	}
	return envoytest.Validate(binary, dir, filepath.Base(name), config)
}
