package worlds

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/e2e/envoytest"
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
					parts = append(parts, world(t, generator, uint64(seed), dir)...)
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

// world returns the bootstraps of the dataplanes of a random mesh.
func world(t *testing.T, g *fuzz.Generator, seed uint64, dir string) (parts []part) {
	random := rand.New(rand.NewPCG(seed, 3))
	data := make([]byte, 100+random.IntN(1000))
	for i := range data {
		data[i] = byte(random.UintN(256))
	}
	scenario := g.Scenario(data)
	inputs := []resource.Input{{Name: "scenario.yaml", Data: []byte(scenario.YAML())}}
	if seed%2 == 0 {
		inputs = append(inputs, resource.Input{Name: "identities.yaml", Data: []byte(identities("default", dir) + identities("other", dir))})
	}
	loader := resource.Loader{Kinds: g.Kinds(), Documents: ocm.Documents()}
	set, err := loader.Decode(inputs...)
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return nil
	}
	view, err := core.NewView(g.Kinds(), set)
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
		return nil
	}
	state := xds.NewBuilder(translators.All(), xds.Options{Audit: true}).At(view)
	for _, d := range set.Dataplanes {
		title := fmt.Sprintf("seed %d: %s of\n%s", seed, d.Name, scenario.YAML())
		bootstrap, err := xds.StaticBootstrap(state.Snapshot(d, false), xds.BootstrapOptions{Admin: netip.MustParseAddrPort("127.0.0.1:0")})
		if err != nil {
			t.Errorf("%s: %v", title, err)
			continue
		}
		parts = append(parts, part{title, bootstrap})
	}
	return parts
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

// validate has Envoy load the parts together, and each for itself if it refuses them.
func validate(t *testing.T, binary, dir, name string, parts []part) {
	if len(parts) == 0 {
		return
	}
	if err := load(binary, dir, name, parts); err == nil {
		return
	}
	refused := false
	for i := range parts {
		if err := load(binary, dir, name, parts[i:i+1]); err != nil {
			t.Errorf("%s: %v", parts[i].title, err)
			refused = true
		}
	}
	if !refused {
		t.Errorf("%s: Envoy refuses what it accepts in parts: %v", name, load(binary, dir, name, parts))
	}
}

func load(binary, dir, name string, parts []part) error {
	var all []*bootstrapv3.Bootstrap
	for _, p := range parts {
		all = append(all, p.bootstrap)
	}
	merged, err := merge(all)
	if err != nil {
		return err
	}
	config, err := xds.MarshalJSON(merged)
	if err != nil {
		return err
	}
	return envoytest.Validate(binary, dir, filepath.Base(name), config)
}
