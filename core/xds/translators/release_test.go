package translators_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshaccesslog"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"github.com/meshmatch/meshmatch/fuzz"
)

// releaseWorlds is how many random meshes are tried; SOAK multiplies it.
const releaseWorlds = 20

// No resource has a type, a field or a word that the release of its client does not know: Envoy
// ignores them over ADS, and what they close would be open (SPEC 18.3). This is so for the
// stories, for policies with all fields, and for random meshes.
func TestReleasesKnowAllFields(t *testing.T) {
	checked := &releaseCheck{used: map[string]bool{}, page: versionsPage(t), leftOut: map[string]bool{}}
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
		worlds /= 2
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
	for _, l := range checked.page {
		if !checked.leftOut[l.kind] && l.kind != "MeshProxyPatch" { // TestPatchesOfReleases has its patches
			t.Errorf("core/VERSIONS.md names %s %s, which no client lacks here", l.kind, l.field)
		}
	}
	t.Logf("%d resources", checked.resources)
}

// lackedField is a field that has no effect at clients before the releases of since.
type lackedField struct{ since, kind, field string }

// versionsPage returns the fields that core/VERSIONS.md names.
func versionsPage(t *testing.T) (list []lackedField) {
	t.Helper()
	page, err := os.ReadFile("../../VERSIONS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range regexp.MustCompile("(?m)^\\| ([0-9., ]+) \\| (Mesh[A-Za-z]+) \\| (?:`([^`]*)`|[^|`]*) \\|").FindAllStringSubmatch(string(page), -1) {
		list = append(list, lackedField{row[1], row[2], row[3]})
	}
	if len(list) < 4 {
		t.Fatalf("core/VERSIONS.md names only %d fields", len(list))
	}
	return list
}

// isLacking reports whether a release does not have what the field needs.
func (l lackedField) isLacking(t *testing.T, release string) bool {
	t.Helper()
	first, _, _ := strings.Cut(l.since, ",")
	of, err := capability.ParseVersion(release)
	if err != nil {
		t.Fatal(err)
	}
	since, err := capability.ParseVersion(first)
	if err != nil {
		t.Fatal(err)
	}
	return of.Compare(since) < 0
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
	page      []lackedField
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
			id, err := state.View().Identities(mesh).IdentityOf(d)
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
	for _, l := range c.page {
		if l.isLacking(t, release) && (kind == l.kind || kind == "") && strings.HasPrefix(w.Field, l.field) {
			c.leftOut[l.kind] = true
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
	for _, value := range envoyapi.Values(m) {
		text, ok := value.Interface().(string)
		if !ok || !strings.Contains(text, "%") {
			continue
		}
		for _, expression := range celExpression.FindAllStringSubmatch(text, -1) {
			for _, call := range celCall.FindAllStringSubmatch(expression[1], -1) {
				if call[1] != "contains" { // all releases have it; 1.40 alone has replace
					t.Errorf("%s calls the CEL function %s, which not all releases may have", title, call[1])
				}
			}
		}
		meshaccesslog.EditOperators(text, func(_, written string) string {
			if first := capability.ReleaseOfOperator(written); slices.Index(capability.Releases, first) > slices.Index(capability.Releases, release) {
				t.Errorf("%s has the operator %s of %s", title, written, first)
			}
			return written
		})
	}
}

var (
	celExpression = regexp.MustCompile(`%(?:TYPED_)?CEL\((.*?)\)(?::[0-9]+)?%`)
	celCall       = regexp.MustCompile(`([A-Za-z_]+)\(`)
)

// A modification that needs what a release added is not applied at a client before it, with a
// warning that names it: a field, a type, a word and an operator (SPEC 18.3).
func TestPatchesOfReleases(t *testing.T) {
	const manager = `networkFilter: {operation: Patch, match: {name: envoy.filters.network.http_connection_manager}, jsonPatches: `
	for _, test := range []struct{ since, name, modification, has string }{
		{"1.37", "Listener.tcp_keepalive", `listener: {operation: Patch, value: "tcp_keepalive: {keepalive_time: 7}"}`, "tcp_keepalive:"},
		{"1.37", "ComparisonFilter.Op.NE", manager + `[{op: add, path: /accessLog, value: [{name: x, filter: {durationFilter: {comparison: {op: NE, value: {runtimeKey: a, defaultValue: 3}}}}, typedConfig: {"@type": type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog}}]}]}`, "runtime_key:"},
		{"1.40", "BodySizeLimit", `httpFilter: {operation: AddLast, value: "{name: last, typed_config: {'@type': type.googleapis.com/envoy.extensions.filters.http.body_size_limit.v3.BodySizeLimit}}"}`, "BodySizeLimit"},
		{"1.38", "SPAN_ID", manager + `[{op: add, path: /accessLog, value: [{name: x, typedConfig: {"@type": type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog, logFormat: {textFormatSource: {inlineString: "%SPAN_ID%"}}}}]}]}`, "%SPAN_ID%"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := &story{file: "mesh.yaml", archive: &txtar.Archive{Files: []txtar.File{{Name: "mesh.yaml",
				Data: []byte("{type: MeshProxyPatch, mesh: default, name: p, spec: {default: {appendModifications: [{" + test.modification + "}]}}}")}}}}
			state := s.state(t, translators.All())
			d := state.View().Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: "web"})
			for _, release := range capability.Releases {
				v, err := capability.ParseVersion(release)
				if err != nil {
					t.Fatal(err)
				}
				built, applied, warned := state.SnapshotFor(d, xds.EnvoyOf(v)), false, false
				for kind := range wire.Type(wire.NumTypes) {
					for _, r := range built.Resources(kind) {
						m, err := message.Decode(r)
						if err != nil {
							t.Fatal(err)
						}
						applied = applied || strings.Contains(fmt.Sprint(m), test.has)
					}
				}
				for _, w := range built.Warnings() {
					warned = warned || w.Code == diag.OlderEnvoy && strings.Contains(w.String(), "Envoy before "+test.since) && strings.Contains(w.String(), test.name)
				}
				if want := slices.Index(capability.Releases, release) >= slices.Index(capability.Releases, test.since); applied != want || warned == want {
					t.Errorf("Envoy %s: it is applied: %t, want %t; with a warning: %t: %v", release, applied, want, warned, built.Warnings())
				}
			}
		})
	}
}
