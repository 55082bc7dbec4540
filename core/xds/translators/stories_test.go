package translators_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/internal/xds/bootstrap"
	"github.com/meshmatch/meshmatch/core/internal/xds/envoytest"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/translators"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// TestStories builds the snapshots of each story in testdata. A story is resources, in
// addition to the dataplanes of testdata/dataplanes.yaml, and sections that are named
// by a policy kind and a dataplane. A section is what the kind changes in the snapshot
// of the dataplane, or of the dataplane "as gRPC": the fields that differ without its
// translator, then its warnings. UPDATE=1 writes the sections.
//
// Each message of a snapshot must pass the validation generated from Envoy's API.
func TestStories(t *testing.T) {
	for _, story := range stories(t) {
		t.Run(story.name, func(t *testing.T) {
			for i, section := range story.sections() {
				kind, dataplane, _ := strings.Cut(section.Name, " of ")
				got := story.effect(t, kind, dataplane)
				if want := string(section.Data); want != got {
					story.archive.Files[i+1].Data = []byte(got)
					t.Errorf("%s: -want +got:\n%s", section.Name, cmp.Diff(want, got))
				}
			}
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(story.file, txtar.Format(story.archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestStoriesInEnvoy has Envoy load the snapshots of all stories, as its release gets them.
func TestStoriesInEnvoy(t *testing.T) {
	envoy := envoytest.Path(t)
	directory := t.TempDir()
	for _, story := range stories(t) {
		of := map[string]bool{}
		for _, section := range story.sections() {
			_, dataplane, _ := strings.Cut(section.Name, " of ")
			if _, asGRPC := strings.CutSuffix(dataplane, asGRPC); !asGRPC {
				of[dataplane] = true
			}
		}
		state := story.state(t, translators.All())
		for dataplane := range of {
			d := state.View().Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: dataplane})
			bootstrap, err := bootstrap.Static(state.SnapshotFor(d, envoytest.Client(t)), bootstrap.Options{Admin: netip.MustParseAddrPort("127.0.0.1:0")})
			if err != nil {
				t.Fatal(err)
			}
			data, err := message.JSON(bootstrap)
			if err != nil {
				t.Fatal(err)
			}
			if err := envoytest.Validate(envoy, directory, story.name, data); err != nil {
				t.Errorf("%s: %s: %v", story.name, dataplane, err)
			}
		}
	}
}

type story struct {
	file, name string
	archive    *txtar.Archive
}

func stories(t *testing.T) (list []*story) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d stories: %v", len(files), err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(archive.Files) < 2 || archive.Files[0].Name != "mesh.yaml" {
			t.Fatalf("%s: a story is mesh.yaml and sections such as -- MeshTimeout of web --", file)
		}
		list = append(list, &story{file, strings.TrimSuffix(filepath.Base(file), ".txtar"), archive})
	}
	return list
}

func (s *story) sections() []txtar.File { return s.archive.Files[1:] }

// effect returns what the translator of a kind changes.
func (s *story) effect(t *testing.T, kind, dataplane string) string {
	t.Helper()
	all := translators.All()
	others := slices.DeleteFunc(slices.Clone(all), func(t xds.Translator) bool { return t.Kind == kind })
	if len(others) == len(all) {
		t.Fatalf("there is no translator of %s", kind)
	}
	snapshot := s.snapshot(t, dataplane, all)
	before, after := fields(t, s.snapshot(t, dataplane, others)), fields(t, snapshot)
	var out strings.Builder
	last := ""
	for _, field := range slices.SortedFunc(maps.Keys(union(before, after)), field.compare) {
		old, now := before[field], after[field]
		if old == now {
			continue
		}
		if field.resource != last {
			last = field.resource
			fmt.Fprintln(&out, last)
		}
		switch {
		case old == "":
			fmt.Fprintf(&out, "\t%s = %s\n", field.path, now)
		case now == "":
			fmt.Fprintf(&out, "\t%s is removed, was %s\n", field.path, old)
		default:
			fmt.Fprintf(&out, "\t%s = %s, was %s\n", field.path, now, old)
		}
	}
	for _, w := range snapshot.Warnings() {
		if w.Policy != nil && w.Policy.Kind == kind {
			fmt.Fprintln(&out, "warning:", w)
		}
	}
	return out.String()
}

// asGRPC is after the name of a dataplane that is gRPC instead of Envoy.
const asGRPC = " as gRPC"

// snapshot returns the snapshot of a dataplane by its name, in which each message is
// valid.
func (s *story) snapshot(t *testing.T, dataplane string, list []xds.Translator) *snapshot.Snapshot {
	t.Helper()
	dataplane, grpc := strings.CutSuffix(dataplane, asGRPC)
	state := s.state(t, list)
	d := state.View().Dataplane(resource.ID{Kind: "Dataplane", Mesh: "default", Name: dataplane})
	if d == nil {
		t.Fatalf("there is no dataplane %s", dataplane)
	}
	client := xds.Envoy
	if grpc {
		client = xds.ProxylessGRPC
	}
	snapshot := state.Snapshot(d, client)
	for kind := range wire.Type(wire.NumTypes) {
		for _, r := range snapshot.Resources(kind) {
			m, err := message.Decode(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := validate(m); err != nil {
				t.Errorf("%s %s: %v", kind, r.Name, err)
			}
		}
	}
	return snapshot
}

// state returns the snapshots of all dataplanes.
func (s *story) state(t *testing.T, list []xds.Translator) *snapshot.State {
	t.Helper()
	loader := resource.Loader{Kinds: kinds.All()}
	dataplanes, err := os.ReadFile("testdata/dataplanes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	set, err := loader.Decode(t.Context(),
		resource.Input{Name: "dataplanes.yaml", Data: dataplanes}, resource.Input{Name: s.file, Data: s.archive.Files[0].Data})
	if err != nil {
		t.Fatal(err)
	}
	view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), kinds.All(), set)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.NewBuilder(list, snapshot.Options{Audit: true}).At(view)
}

// validate validates a message and those that it contains as google.protobuf.Any.
func validate(m proto.Message) error {
	if m, ok := m.(interface{ ValidateAll() error }); ok {
		if err := m.ValidateAll(); err != nil {
			return err
		}
	}
	var failed error
	visit(m.ProtoReflect(), func(m proto.Message) {
		if any, ok := m.(*anypb.Any); ok && failed == nil {
			inner, err := anypb.UnmarshalNew(any, proto.UnmarshalOptions{Resolver: envoyapi.Types{}})
			if err == nil {
				err = validate(inner)
			}
			failed = err
		}
	})
	return failed
}

// visit calls a function for each message in a message.
func visit(m protoreflect.Message, f func(proto.Message)) {
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		inner := func(v protoreflect.Value) {
			f(v.Message().Interface())
			visit(v.Message(), f)
		}
		switch {
		case field.IsMap() && field.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool { inner(v); return true })
		case field.IsList() && field.Message() != nil:
			for i := range v.List().Len() {
				inner(v.List().Get(i))
			}
		case !field.IsMap() && field.Message() != nil:
			inner(v)
		}
		return true
	})
}

// field is a field of a resource.
type field struct{ resource, path string }

func (f field) compare(o field) int {
	if f.resource != o.resource {
		return strings.Compare(f.resource, o.resource)
	}
	return compareNatural(f.path, o.path)
}

// compareNatural compares texts with numbers: 9 is before 10.
func compareNatural(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(x), len(y)) {
		if x[i] == y[i] {
			continue
		}
		if isNumber(x[i]) && isNumber(y[i]) && len(x[i]) != len(y[i]) {
			return len(x[i]) - len(y[i])
		}
		return strings.Compare(x[i], y[i])
	}
	return len(x) - len(y)
}

func isNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// fields returns the fields of all resources of a snapshot with their values.
func fields(t *testing.T, s *snapshot.Snapshot) map[field]string {
	t.Helper()
	out := map[field]string{}
	for kind := range wire.Type(wire.NumTypes) {
		for _, r := range s.Resources(kind) {
			m, err := message.Decode(r)
			if err != nil {
				t.Fatal(err)
			}
			data, err := message.JSON(m)
			if err != nil {
				t.Fatal(err)
			}
			decoder := json.NewDecoder(bytes.NewReader(data))
			decoder.UseNumber()
			var tree any
			if err := decoder.Decode(&tree); err != nil {
				t.Fatal(err)
			}
			flatten(tree, "", func(path, value string) { out[field{kind.String() + " " + r.Name, path}] = value })
		}
	}
	return out
}

func flatten(tree any, path string, add func(path, value string)) {
	join := func(name string) string { return strings.TrimPrefix(path+"/"+name, "/") }
	switch tree := tree.(type) {
	case map[string]any:
		for name, value := range tree {
			if name != "@type" {
				flatten(value, join(strings.ReplaceAll(name, "/", "~1")), add)
			}
		}
		if len(tree) == 0 {
			add(path, "{}")
		}
	case []any:
		for i, value := range tree {
			flatten(value, join(fmt.Sprint(i)), add)
		}
	default:
		add(path, fmt.Sprint(tree))
	}
}

func union[K comparable, V any](a, b map[K]V) map[K]V {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
