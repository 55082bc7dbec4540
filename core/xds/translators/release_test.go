package translators_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"github.com/meshmatch/meshmatch/fuzz"
)

// releaseWorlds is how many random meshes are tried; SOAK multiplies it.
const releaseWorlds = 60

// No resource has a type, a field or a word that the release of its client does not know: Envoy
// ignores them over ADS, and what they close would be open (SPEC 18.3). This is so for the
// stories, for policies with all fields, and for random meshes.
func TestReleasesKnowAllFields(t *testing.T) {
	checked := &releaseCheck{used: map[string]bool{}, leftOut: map[string]bool{}}
	for _, s := range stories(t) {
		checked.state(t, s.name, s.state(t, translators.All()))
	}
	for _, kind := range kinds.All().All() {
		checked.state(t, "fields of "+kind.Name, stateOf(t, core.TargetRef, kinds.All(), "testdata/fields/world.yaml", filepath.Join("testdata/fields", kind.Name+".yaml")))
	}
	generator, err := fuzz.NewGenerator(kinds.All())
	if err != nil {
		t.Fatal(err)
	}
	worlds := uint64(releaseWorlds * fuzz.Soak(t))
	if testing.Short() {
		worlds /= 6
	}
	for seed := range worlds {
		by, g := semantics.TargetRef+semantics.Semantics(seed%3), generator
		if by != semantics.TargetRef {
			g = g.WithKumaLabels().WithDestinations().ReadBy(by)
		}
		scenario := g.Scenario(fuzz.RandomBytes(rand.New(rand.NewPCG(seed, 45)), 600))
		file := filepath.Join(t.TempDir(), "scenario.yaml")
		if err := os.WriteFile(file, []byte(scenario.YAML()), 0o600); err != nil {
			t.Fatal(err)
		}
		checked.state(t, fmt.Sprint("seed ", seed), stateOf(t, by, g.Kinds(), file))
	}
	if !checked.used["1.37"] { // that of TCP permissions, for one
		t.Error("no resource uses the API of 1.37: the check sees none")
	}
	for _, l := range capability.All.LeftOut() {
		if !checked.leftOut[l.Kind] && l.Kind != "MeshProxyPatch" { // TestPatchesOfReleases has its patches
			t.Errorf("core/VERSIONS.md names %s %s, which no client lacks here", l.Kind, l.Field)
		}
	}
	t.Logf("%d resources", checked.resources)
}

// stateOf returns the snapshots of files.
func stateOf(t *testing.T, by semantics.Semantics, kinds *resource.Kinds, files ...string) *snapshot.State {
	t.Helper()
	var inputs []resource.Input
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, resource.Input{Name: file, Data: data})
	}
	loader := resource.Loader{Kinds: kinds}
	set, err := loader.Decode(t.Context(), inputs...)
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: by}.NewView(t.Context(), kinds, set)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view)
}

// releaseCheck compares resources with the API of the releases of their clients.
type releaseCheck struct {
	resources int
	leftOut   map[string]bool // kinds with fields that are left out
	used      map[string]bool // releases that added what a resource uses
}

// state checks the resources of all dataplanes for each release, and their bootstraps.
func (c *releaseCheck) state(t *testing.T, title string, state *snapshot.State) {
	t.Helper()
	for _, mesh := range state.View().Meshes() {
		for _, d := range state.View().Dataplanes(mesh) {
			for _, release := range capability.Releases {
				c.client(t, title, state, d, release)
			}
			// A bootstrap is the same for all releases.
			id, err := state.View().Identities(mesh).Of(d)
			if err != nil {
				continue
			}
			server := bootstrap.Server{Host: "xds.example", Port: 5678, CA: "/ca.pem", Certificate: "/cert.pem", Key: "/key.pem"}
			c.message(t, title+", the bootstrap of "+d.Name, bootstrap.ADS(d, id, server, bootstrap.Options{Admin: netip.MustParseAddrPort("127.0.0.1:0")}), capability.Releases[0])
		}
	}
}

func (c *releaseCheck) client(t *testing.T, title string, state *snapshot.State, d *resource.Dataplane, release string) {
	t.Helper()
	version, err := capability.ParseVersion(release)
	if err != nil {
		t.Fatal(err)
	}
	s := state.SnapshotFor(d, xds.EnvoyOf(version))
	for _, w := range s.Warnings() {
		c.warning(t, title, release, &w)
	}
	for kind := range wire.Type(wire.NumTypes) {
		for _, r := range s.Resources(kind) {
			m, err := message.Decode(r)
			if err != nil {
				t.Fatal(err)
			}
			c.resources++
			c.message(t, fmt.Sprintf("%s, %s: %s %s of %s", title, release, kind, r.Name, d.Name), m, release)
		}
	}
}

// warning checks that core/VERSIONS.md names what a client lacks.
func (c *releaseCheck) warning(t *testing.T, title, release string, w *xds.Warning) {
	t.Helper()
	if w.Code != diag.OlderEnvoy {
		return
	}
	kind := ""
	if w.Policy != nil {
		kind = w.Policy.Type.Name
	}
	version, err := capability.ParseVersion(release)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range (capability.All &^ capability.Of(version)).LeftOut() {
		if (kind == l.Kind || kind == "") && strings.HasPrefix(w.Field, l.Field) {
			c.leftOut[l.Kind] = true
			return
		}
	}
	t.Errorf("%s, %s: %s %q is left out, and no table names it: %s", title, release, kind, w.Field, w)
}

func (c *releaseCheck) message(t *testing.T, title string, m proto.Message, release string) {
	t.Helper()
	for _, need := range envoyapi.Needs(m) {
		c.used[need.Release] = true
		if slices.Index(capability.Releases, need.Release) > slices.Index(capability.Releases, release) {
			t.Errorf("%s has %s of %s", title, need.Name, need.Release)
		}
	}
	// The CEL function of Envoy 1.40.
	if text := fmt.Sprint(m); release != "1.40" && strings.Contains(text, ".replace(") {
		t.Errorf("%s uses the CEL function replace of 1.40", title)
	}
}
