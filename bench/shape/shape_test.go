package shape

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The numbers of policies that select dataplane 7, which figures of other
// projects are about too.
func TestPoliciesOfDataplane7(t *testing.T) {
	for _, test := range []struct {
		name     string
		policies func(*resource.Kind, int) []*resource.Policy
		n, want  int
	}{
		{"fleet", Fleet, 100, 19},
		{"fleet", Fleet, 1_000, 112},
		{"fleet", Fleet, 10_000, 1_090},
		{"sparse", Sparse, 1_000, 7},
		{"shared label", SharedLabel, 1_000, 7},
	} {
		t.Run(fmt.Sprintf("%s of %d", test.name, test.n), func(t *testing.T) {
			kind := TimeoutKind()
			set := &resource.Set{Dataplanes: []*resource.Dataplane{Dataplane(7, 0)}, Policies: test.policies(kind, test.n)}
			view, err := core.NewView(resource.NewKinds(kind), set)
			if err != nil {
				t.Fatal(err)
			}
			if got := view.Configs(set.Dataplanes[0], core.Enforced)[0].Matched.Len(); got != test.want {
				t.Errorf("%d policies, want %d", got, test.want)
			}
		})
	}
}

// Files of both formats have the resources that they are made from.
func TestFiles(t *testing.T) {
	timeout, permission := TimeoutKind(), PermissionKind()
	set := &resource.Set{Policies: append(Fleet(timeout, 30), Permissions(permission, 3)...)}
	for j := range 3 {
		set.Dataplanes = append(set.Dataplanes, Dataplane(j, 2))
	}
	loader := resource.Loader{Kinds: resource.NewKinds(timeout, permission)}
	for name, write := range map[string]func(*resource.Set) ([]byte, error){"json": JSON, "yaml": YAML} {
		t.Run(name, func(t *testing.T) {
			file, err := write(set)
			if err != nil {
				t.Fatal(err)
			}
			got, err := loader.Decode(resource.Input{Name: "file." + name, Data: file})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(set.Dataplanes, got.Dataplanes, cmpopts.IgnoreFields(resource.Meta{}, "Pos"), cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			again, err := write(got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(file), string(again)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
