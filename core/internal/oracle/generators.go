package oracle

import (
	"sync"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/kind/meshcircuitbreaker"
	"github.com/meshmatch/meshmatch/core/kind/meshhealthcheck"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/kind/meshtcproute"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/fuzz"
)

// builtIn is made once: preparing the Confs of all kinds takes as long as a few
// hundred scenarios.
var builtIn = sync.OnceValues(func() (*fuzz.Generator, error) { return fuzz.NewGenerator(kinds.All()) })

// AllKinds makes scenarios with policies of all built-in kinds.
func AllKinds(t testing.TB) *fuzz.Generator {
	t.Helper()
	g, err := builtIn()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Permissions makes scenarios with only the kind that decides about requests.
func Permissions(t testing.TB) *fuzz.Generator {
	t.Helper()
	return generatorOf(t, meshtrafficpermission.Kind())
}

// WithFrom makes scenarios of the kinds with `from`, whose conf depends on the
// client's tags.
func WithFrom(t testing.TB) *fuzz.Generator {
	t.Helper()
	var from []*resource.Kind
	for _, kind := range kinds.BuiltIn() {
		if kind.From != nil {
			from = append(from, kind)
		}
	}
	return generatorOf(t, from...)
}

// WithRoutes makes scenarios with routes and kinds that apply to them, including a kind
// with a single conf.
func WithRoutes(t testing.TB) *fuzz.Generator {
	t.Helper()
	single := &resource.Kind{
		Name: "Single", Short: "s", Top: resource.TopTargets | resource.RouteTargets,
		Default: &resource.Section{Conf: meshtimeout.Kind().To.Conf},
	}
	return generatorOf(t, meshtimeout.Kind(), meshhttproute.Kind(), meshtcproute.Kind(), single)
}

// WithUnions makes scenarios of kinds with unions, in all arrays and as the single
// conf: an item that is itself overridden can hide lower ones (SPEC 6).
func WithUnions(t testing.TB) *fuzz.Generator {
	t.Helper()
	union := meshloadbalancingstrategy.Kind().To.Conf
	unions := &resource.Kind{
		Name: "Unions", Short: "u", Top: resource.TopTargets,
		To:    &resource.Section{Targets: resource.ServiceTargets, Conf: union},
		From:  &resource.Section{Targets: resource.FromTargets, Conf: union},
		Rules: &resource.Section{Matches: true, Conf: union},
	}
	single := &resource.Kind{Name: "Single", Short: "s", Top: resource.TopTargets, Default: &resource.Section{Conf: union}}
	return generatorOf(t, unions, single).WithConfs(func(conf map[string]any) bool {
		return conf["loadBalancer"] != nil && conf["localityAwareness"] == nil
	})
}

// Clusters makes scenarios of the kinds whose items of `to` shape clusters.
func Clusters(t testing.TB) *fuzz.Generator {
	t.Helper()
	return generatorOf(t, meshcircuitbreaker.Kind(), meshhealthcheck.Kind(), meshtimeout.Kind(), meshloadbalancingstrategy.Kind())
}

func generatorOf(t testing.TB, kinds ...*resource.Kind) *fuzz.Generator {
	t.Helper()
	g, err := fuzz.NewGenerator(resource.NewKinds(kinds...))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Sequential skips a test with -short, as under the race detector: it works in one goroutine,
// and other tests read the same answers in several ones.
func Sequential(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it works in one goroutine")
	}
}
