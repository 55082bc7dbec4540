package shape

import (
	"fmt"
	"testing"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The number of policies that select dataplane 7 equals the published figures
// of other projects.
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
			kind := meshtimeout.Kind()
			set := &resource.Set{Dataplanes: []*resource.Dataplane{Dataplane(7, 0)}, Policies: test.policies(kind, test.n)}
			view, err := core.Options{Semantics: core.TargetRef}.NewView(t.Context(), resource.NewKinds(kind), set)
			if err != nil {
				t.Fatal(err)
			}
			if got := view.Configs(set.Dataplanes[0], core.Enforced)[0].Matched.Len(); got != test.want {
				t.Errorf("%d policies, want %d", got, test.want)
			}
		})
	}
}
