package serve_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"github.com/meshmatch/meshmatch/fuzz"
)

// soakNames are the dataplanes of the soak's clients.
var soakNames = []string{"m0", "m1", "m2", "m3"}

// A soakProgram is what a client of the soak is.
type soakProgram struct {
	name, version string
	client        xds.Client // which the version is, by the table of core/VERSIONS.md
}

// soakPrograms are the programs of the soak's clients. Their number has no common divisor with
// the protocols and roles of the clients, so each of them has several.
var soakPrograms = []soakProgram{
	{"envoy", "1.40.0", xds.Client{}},
	{"envoy", "1.38.3", xds.EnvoyOf(capability.Version{Major: 1, Minor: 38})},
	{"envoy", "", xds.EnvoyOf(capability.Version{Major: 1, Minor: 36})}, // SPEC 18.2
	{"envoy", "1.41.2", xds.Client{}},
	{"gRPC Go", "1.75.0", xds.Client{Type: xds.ProxylessGRPC}},
}

// soakNode returns the node id of a dataplane of soakNames.
func soakNode(name string) string { return "kri_dp_default___" + name + "_" }

// rejected marks the documents whose resources the soak's clients reject. In endpoints,
// the address is the mark.
const (
	rejected        = "/rejected"
	rejectedAddress = "10.66.66.66"
)

var (
	rejectedDocuments = []string{
		`{type: Dataplane, name: rejected, networking: {address: ` + rejectedAddress + `, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: api, version: v2}}]}}`,
		`{type: MeshHealthCheck, name: rejected, spec: {to: [{default: {interval: 1s, timeout: 1s, http: {path: ` + rejected + `}}}]}}`,
		`{type: MeshAccessLog, name: rejected, spec: {to: [{default: {backends: [{type: File, file: {path: ` + rejected + `}}]}}]}}`,
		`{type: MeshHTTPRoute, name: rejected, spec: {to: [{targetRef: {kind: MeshService, name: api}, rules: [{matches: [{path: {type: PathPrefix, value: ` + rejected + `}}], default: {}}]}]}}`,
	}
	identities = []string{
		`{type: MeshIdentity, name: identity, spec: {selector: {dataplane: {matchLabels: {}}}, provider: {type: Extension, extension: {name: files, config: {certificate: /c.pem, privateKey: /k.pem, trustBundle: /ca.pem}}}}}`,
		`{type: MeshIdentity, name: identity, spec: {selector: {dataplane: {matchLabels: {app: x}}}, spiffeID: {path: /x}, provider: {type: Extension, extension: {name: files, config: {certificate: /c.pem, privateKey: /k.pem, trustBundle: /ca.pem}}}}}`,
		identity, // each replica signs its own certificates
	}
	badDocuments = []string{
		"{type: Mesh",
		"{type: MeshTimeout, name: bad, spec: {to: [{default: {connectionTimeout: soon}}]}}",
		"{type: MeshTimeout, name: bad, spec: {too: []}}",
		"{type: Dataplane, name: m0, networking: {address: 10.0.0.1}}", // a second one of the name
	}
)

// soakFiles is a directory whose files change at random. Each file has one document.
type soakFiles struct {
	t         *testing.T
	rand      *rand.Rand
	dir       string
	generator *fuzz.Generator
	documents map[string]string // by file
	spare     []string          // documents of random meshes, to be added
}

// soakGenerator is shared, because it takes long to make.
var soakGenerator = sync.OnceValues(func() (*fuzz.Generator, error) { return fuzz.NewGenerator(kinds.All()) })

func newSoakFiles(t *testing.T, random *rand.Rand) *soakFiles {
	generator, err := soakGenerator()
	if err != nil {
		t.Fatal(err)
	}
	f := &soakFiles{t: t, rand: random, dir: t.TempDir(), generator: generator, documents: map[string]string{}}
	f.settle()
	return f
}

// edit changes one to three files.
func (f *soakFiles) edit() {
	for range 1 + f.rand.IntN(3) {
		switch f.rand.IntN(10) {
		case 0:
			f.put("identity.yaml", pick(f.rand, identities))
		case 1:
			f.remove("identity.yaml")
		case 2:
			i := f.rand.IntN(len(rejectedDocuments))
			f.put(fmt.Sprintf("rejected-%d.yaml", i), rejectedDocuments[i])
		case 3:
			f.member(pick(f.rand, soakNames))
		case 4:
			f.remove(pick(f.rand, soakNames) + ".yaml")
		case 5:
			f.put("mode.yaml", fmt.Sprintf("{type: MeshTLS, name: mode, spec: {rules: [{default: {mode: %s}}]}}", pick(f.rand, []string{"Strict", "Permissive"})))
		case 6:
			f.clusters()
		default:
			f.randomDocument()
		}
	}
}

// clusters changes all clusters of outbounds, and no endpoints.
func (f *soakFiles) clusters() {
	f.put("timeout.yaml", fmt.Sprintf("{type: MeshTimeout, name: zzz, spec: {to: [{default: {connectionTimeout: %ds}}]}}", 1+f.rand.IntN(9)))
}

// member writes a dataplane of soakNames, with random inbounds and outbounds: one or two inbounds, of
// HTTP more often than of TCP.
func (f *soakFiles) member(name string) {
	service, app := pick(f.rand, []string{"web", "api"}), pick(f.rand, []string{"x", "y"})
	var outbounds []string
	for i, tags := range []string{"kuma.io/service: web", "kuma.io/service: api", "kuma.io/service: api, version: v1", "kuma.io/service: web, kuma.io/protocol: http"} {
		if f.rand.IntN(3) > 0 {
			outbounds = append(outbounds, fmt.Sprintf("{port: %d, tags: {%s}}", 10000+i, tags))
		}
	}
	var inbounds []string
	for i := range 1 + f.rand.IntN(2) {
		inbounds = append(inbounds, fmt.Sprintf("{port: %d, protocol: %s, tags: {kuma.io/service: %s, version: v%d}}",
			8080+i, pick(f.rand, []string{"http", "http", "tcp"}), service, 1+f.rand.IntN(2)))
	}
	f.put(name+".yaml", fmt.Sprintf(`{type: Dataplane, name: %s, labels: {app: %s}, networking: {address: 10.0.1.%d,
  inbound: [%s], outbound: [%s]}}`,
		name, app, 1+f.rand.IntN(3), strings.Join(inbounds, ", "), strings.Join(outbounds, ", ")))
}

// randomDocument adds a document of a random mesh, or removes one. All random meshes use
// the same small alphabets, so their documents refer to each other.
func (f *soakFiles) randomDocument() {
	slot := fmt.Sprintf("random-%d.yaml", f.rand.IntN(25))
	if _, found := f.documents[slot]; found && f.rand.IntN(3) == 0 {
		f.remove(slot)
		return
	}
	if len(f.spare) == 0 {
		data := make([]byte, 100+f.rand.IntN(1000))
		for i := range data {
			data[i] = byte(f.rand.Uint32())
		}
		f.spare = strings.Split(f.generator.Scenario(data).YAML(), "---\n")
	}
	document := f.spare[0]
	f.spare = f.spare[1:]
	before, found := f.documents[slot]
	f.documents[slot] = document
	if _, err := f.load(); err == nil {
		f.put(slot, document)
	} else if f.documents[slot] = before; !found {
		delete(f.documents, slot) // such as a second resource of one name
	}
}

// bad writes a file with an error, and returns a function that removes it.
func (f *soakFiles) bad() (mend func()) {
	f.put("bad.yaml", pick(f.rand, badDocuments))
	return func() { f.remove("bad.yaml") }
}

// settle writes files that no client rejects, with all dataplanes of soakNames. They have
// no certificates and no patches that weaken permissions, because what a replica serves
// for these depends on its history.
func (f *soakFiles) settle() {
	for _, name := range soakNames {
		f.member(name)
	}
	for i := range rejectedDocuments {
		f.remove(fmt.Sprintf("rejected-%d.yaml", i))
	}
	for name, document := range f.documents {
		if strings.Contains(document, rejected) {
			f.remove(name)
		}
	}
	if i := f.rand.IntN(3); i < 2 {
		f.put("identity.yaml", identities[i])
	} else {
		f.remove("identity.yaml")
	}
	f.repair()
	if f.expected().refuses() {
		for slot, document := range f.documents {
			if strings.Contains(document, "MeshProxyPatch") {
				f.remove(slot)
			}
		}
		f.repair()
	}
}

// repair removes random documents until the rest has no error, such as a binding of a
// removed policy.
func (f *soakFiles) repair() {
	for slot := range f.documents {
		if _, err := f.load(); err == nil {
			return
		} else if strings.HasPrefix(slot, "random") {
			f.remove(slot)
		}
	}
}

// put writes a file: in place, or by a rename.
func (f *soakFiles) put(name, document string) {
	f.documents[name] = document
	path := filepath.Join(f.dir, name)
	write := path
	if f.rand.IntN(2) == 0 {
		write = filepath.Join(f.dir, "."+name+".new")
	}
	err := os.WriteFile(write, []byte(document), 0o644)
	if err == nil && write != path {
		err = os.Rename(write, path)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *soakFiles) remove(name string) {
	delete(f.documents, name)
	if err := os.Remove(filepath.Join(f.dir, name)); err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
}

// restore makes the documents what they were.
func (f *soakFiles) restore(before map[string]string) {
	for name := range f.documents {
		if _, found := before[name]; !found {
			f.remove(name)
		}
	}
	for name, document := range before {
		if f.documents[name] != document {
			f.put(name, document)
		}
	}
}

// load loads the documents.
func (f *soakFiles) load() (*resource.Set, error) { return f.decode(f.documents) }

// decode decodes documents.
func (f *soakFiles) decode(documents map[string]string) (*resource.Set, error) {
	var inputs []resource.Input
	for name, document := range documents {
		inputs = append(inputs, resource.Input{Name: name, Data: []byte(document)})
	}
	slices.SortFunc(inputs, func(a, b resource.Input) int { return strings.Compare(a.Name, b.Name) })
	loader := resource.Loader{Kinds: f.generator.Kinds(), Documents: ocm.Documents()}
	return loader.Decode(context.Background(), inputs...)
}

// expected loads the documents from scratch, as `meshmatch snapshot` does.
func (f *soakFiles) expected() *expected {
	set, err := f.load()
	if err != nil {
		f.t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(context.Background(), f.generator.Kinds(), set)
	if err != nil {
		f.t.Fatal(err)
	}
	return &expected{view, snapshot.NewBuilder(translators.All(), snapshot.Options{}).At(view)}
}

// expected is what clients should hold in the end. It implements [server.State].
type expected struct {
	view  *core.View
	state *snapshot.State
}

func (e *expected) Node(n *server.Node) (*wire.Snapshot, bool) {
	built := e.snapshot(n)
	if built == nil {
		return nil, false
	}
	var s wire.Snapshot
	for t := range wire.Type(wire.NumTypes) {
		s[t].Listed = built.Resources(t)
	}
	extensions := &s[wire.ExtensionType] // no wildcard selects one (SPEC 11.8)
	extensions.Listed, extensions.Named = nil, extensions.Listed
	s[wire.ListenerType].Named = built.API()
	return &s, true
}

// snapshot returns the snapshot of a node, or nil if it has no dataplane.
func (e *expected) snapshot(n *server.Node) *snapshot.Snapshot {
	id, zone, ok := resource.ParseDataplaneKRI(n.ID)
	if !ok {
		return nil
	}
	d := e.view.Dataplane(id)
	if d == nil || d.Zone() != zone {
		return nil
	}
	return e.state.SnapshotFor(d, clientOfSoak(n))
}

// clientOfSoak returns what a client of the soak is; without a node it is an Envoy without a version.
func clientOfSoak(n *server.Node) xds.Client {
	i := slices.IndexFunc(soakPrograms, func(p soakProgram) bool { return p.name == n.UserAgent && p.version == n.Version })
	switch {
	case i < 0 && n.UserAgent == "":
		return xds.EnvoyOf(capability.Unknown)
	case i < 0: // one of the world's programs
		c, err := xds.ClientBy(n.UserAgent, n.Version)
		if err != nil {
			panic(err)
		}
		return c
	}
	return soakPrograms[i].client
}

// refuses reports whether a dataplane of soakNames has a patch that weakens permissions.
// Its served resources depend on the history of its replica.
func (e *expected) refuses() bool {
	return slices.ContainsFunc(soakNames, func(name string) bool {
		return e.snapshot(&server.Node{ID: soakNode(name)}).Refused() != nil
	})
}

func (e *expected) Locate(n *server.Node, t wire.Type, name string, parameters map[string]string) (wire.Variant, bool) {
	return e.state.LocateFor(clientOfSoak(n), t, name, parameters)
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }
