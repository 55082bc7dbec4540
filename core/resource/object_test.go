package resource_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/golden"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The documents of testdata/objects are valid or invalid. The file want contains the
// objects of the valid ones, and errors contains the errors of the others; UPDATE=1
// writes both. A printed object is read as an equal object, and is also valid as a Go
// value.
func TestObjects(t *testing.T) {
	golden.Archives(t, "testdata/objects/*.txtar", func(t *testing.T, archive *txtar.Archive) golden.Answer {
		loader := resource.Loader{Kinds: kinds.All(), Strict: true}
		content := map[string]string{}
		for _, f := range archive.Files {
			set, err := loader.Decode(t.Context(), resource.Input{Name: f.Name, Data: f.Data})
			switch f.Name {
			case "valid.yaml":
				if err != nil {
					t.Fatal(err)
				}
				content["want"] = printObjects(t, set)
				for _, o := range set.Objects {
					roundTrip(t, o)
				}
			case "invalid.yaml":
				if err == nil {
					t.Fatal("no errors")
				}
				content["errors"] = err.Error() + "\n"
			}
		}
		return func(t *testing.T, f *txtar.File) (string, bool) { text, ok := content[f.Name]; return text, ok }
	})
}

func printObjects(t *testing.T, set *resource.Set) string {
	var b strings.Builder
	for _, m := range set.Meshes {
		data, err := json.Marshal(m.Spec)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n  %s\n", m.ID, data)
	}
	for _, o := range set.Objects {
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n  %s\n", o.Identity().ID, o.KRI("s"), data)
		if d, ok := o.(resource.Destination); ok {
			fmt.Fprintf(&b, "  created %s, ports %v, status %+v\n", d.Created().Format(time.RFC3339), d.Ports(), *d.State())
		}
	}
	return b.String()
}

// roundTrip checks that a printed object is read as an equal object, except for status
// and time, and that the same value made in Go has no errors.
func roundTrip(t *testing.T, o resource.Object) {
	t.Helper()
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	set, errs := decode(t, string(data))
	if errs != "" {
		t.Fatalf("%s\n%s", data, errs)
	}
	ignored := cmp.Options{
		cmpopts.IgnoreTypes(diag.Position{}, resource.DestinationStatus{}, time.Time{}),
		cmpopts.IgnoreFields(resource.Meta{}, "Labels"), // the namespace becomes a label
		cmpopts.EquateEmpty(),
	}
	if meta := set.Objects[0].Identity(); meta.HomeNamespace() != o.Identity().HomeNamespace() && meta.Namespace != "" {
		t.Errorf("%s\nthe namespace where it was made is %q", data, meta.HomeNamespace())
	}
	if diff := cmp.Diff([]resource.Object{o}, set.Objects, ignored); diff != "" {
		t.Errorf("%s\n%s", data, diff)
	}
	var sink diag.Sink
	if o.Validate(o.Identity().Place(&sink)); sink.Err() != nil {
		t.Error(sink.Err())
	}
}

// An object that was made in Go has the same errors as one from a file.
func TestValidateObject(t *testing.T) {
	valid := func() *resource.MeshService {
		s := &resource.MeshService{}
		s.ID = resource.ID{Kind: resource.MeshServiceKind, Mesh: "m", Name: "s"}
		s.Spec.Ports = []specs.ServicePort{{Port: 80}}
		return s
	}
	zone := func() *resource.ObjectOf[specs.Zone] {
		z := &resource.ObjectOf[specs.Zone]{}
		z.ID = resource.ID{Kind: resource.ZoneKind, Name: "z"}
		return z
	}
	for name, c := range map[string]struct {
		object func() resource.Object
		want   string
	}{
		"valid":          {func() resource.Object { return valid() }, ""},
		"a global one":   {func() resource.Object { return zone() }, ""},
		"port":           {func() resource.Object { s := valid(); s.Spec.Ports[0].Port = 0; return s }, `MeshService "s" in mesh "m": spec.ports[0].port: bad port 0; a port is a number from 1 to 65535`},
		"word":           {func() resource.Object { s := valid(); s.Spec.State = "Up"; return s }, `MeshService "s" in mesh "m": spec.state: unknown value "Up"; one of "Available", "Unavailable"`},
		"no name":        {func() resource.Object { s := valid(); s.Name = ""; return s }, `MeshService "" in mesh "m": name: a resource's name must not be empty`},
		"no mesh":        {func() resource.Object { s := valid(); s.Mesh = ""; return s }, `MeshService "s": mesh: a resource's mesh must not be empty; the mesh of most resources is default`},
		"no kind":        {func() resource.Object { s := valid(); s.Kind = ""; return s }, ` "s" in mesh "m": type: unknown kind ""`},
		"another kind":   {func() resource.Object { s := valid(); s.Kind = resource.WorkloadKind; return s }, `Workload "s" in mesh "m": type: an object of kind Workload has another type`},
		"zone in a mesh": {func() resource.Object { z := zone(); z.Mesh = "m"; return z }, `Zone "z" in mesh "m": mesh: a Zone belongs to no mesh; remove it`},
	} {
		t.Run(name, func(t *testing.T) {
			o := c.object()
			var sink diag.Sink
			o.Validate(o.Identity().Place(&sink))
			got := ""
			if err := sink.Err(); err != nil {
				var all diag.Errors
				errors.As(err, &all)
				got = all.Error()
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
