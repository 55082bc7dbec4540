package kinds

import (
	"github.com/meshmatch/meshmatch/core/kind/meshaccesslog"
	"github.com/meshmatch/meshmatch/core/kind/meshcircuitbreaker"
	"github.com/meshmatch/meshmatch/core/kind/meshfaultinjection"
	"github.com/meshmatch/meshmatch/core/kind/meshhealthcheck"
	"github.com/meshmatch/meshmatch/core/kind/meshhttproute"
	"github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/kind/meshmetric"
	"github.com/meshmatch/meshmatch/core/kind/meshpassthrough"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
	"github.com/meshmatch/meshmatch/core/kind/meshratelimit"
	"github.com/meshmatch/meshmatch/core/kind/meshretry"
	"github.com/meshmatch/meshmatch/core/kind/meshtcproute"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/kind/meshtls"
	"github.com/meshmatch/meshmatch/core/kind/meshtrace"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// All returns the built-in kinds.
func All() *resource.Kinds { return resource.NewKinds(BuiltIn()...) }

// BuiltIn returns new descriptions of the built-in kinds. A caller can combine them
// with other kinds in one set.
func BuiltIn() []*resource.Kind {
	return []*resource.Kind{
		meshaccesslog.Kind(),
		meshcircuitbreaker.Kind(),
		meshfaultinjection.Kind(),
		meshhealthcheck.Kind(),
		meshhttproute.Kind(),
		meshloadbalancingstrategy.Kind(),
		meshmetric.Kind(),
		meshpassthrough.Kind(),
		meshproxypatch.Kind(),
		meshratelimit.Kind(),
		meshretry.Kind(),
		meshtcproute.Kind(),
		meshtimeout.Kind(),
		meshtls.Kind(),
		meshtrace.Kind(),
		meshtrafficpermission.Kind(),
	}
}
