// Package kinds is the list of the built-in policy kinds (SPEC 1.4). An
// embedder who adds his own passes them beside these:
//
//	resource.NewKinds(append(kinds.BuiltIn(), upstreamtimeout.Kind())...)
package kinds

import (
	"github.com/meshmatch/meshmatch/core/conf/meshaccesslog"
	"github.com/meshmatch/meshmatch/core/conf/meshcircuitbreaker"
	"github.com/meshmatch/meshmatch/core/conf/meshfaultinjection"
	"github.com/meshmatch/meshmatch/core/conf/meshhealthcheck"
	"github.com/meshmatch/meshmatch/core/conf/meshhttproute"
	"github.com/meshmatch/meshmatch/core/conf/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/conf/meshmetric"
	"github.com/meshmatch/meshmatch/core/conf/meshpassthrough"
	"github.com/meshmatch/meshmatch/core/conf/meshproxypatch"
	"github.com/meshmatch/meshmatch/core/conf/meshratelimit"
	"github.com/meshmatch/meshmatch/core/conf/meshretry"
	"github.com/meshmatch/meshmatch/core/conf/meshtcproute"
	"github.com/meshmatch/meshmatch/core/conf/meshtimeout"
	"github.com/meshmatch/meshmatch/core/conf/meshtls"
	"github.com/meshmatch/meshmatch/core/conf/meshtrace"
	"github.com/meshmatch/meshmatch/core/conf/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// All returns the built-in kinds.
func All() *resource.Kinds { return resource.NewKinds(BuiltIn()...) }

// BuiltIn returns the built-in kinds, newly made, to be put into a set with
// others.
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
