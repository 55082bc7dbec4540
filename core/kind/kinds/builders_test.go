package kinds_test

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
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

// filled makes a policy with one empty Conf in each array of the kind.
type filled func(kind *resource.Kind) (*resource.Policy, error)

func fill[C, R any](builder func(mesh, name string) *resource.PolicyBuilder[C, R]) filled {
	return func(kind *resource.Kind) (*resource.Policy, error) {
		var conf C
		var rule R
		b := builder("default", "p")
		if kind.To != nil {
			b.To(resource.Service("web"), conf)
		}
		if kind.From != nil {
			b.From(resource.WholeMesh(), conf)
		}
		if kind.Rules != nil {
			b.Rule(rule)
		}
		if kind.Default != nil {
			b.Default(conf)
		}
		return b.Policy()
	}
}

// The builder of each kind uses the Conf types of the kind. The validation of a kind may
// refuse an empty Conf, but not its type.
func TestBuilders(t *testing.T) {
	builders := map[string]filled{
		"MeshAccessLog": fill(meshaccesslog.New), "MeshCircuitBreaker": fill(meshcircuitbreaker.New),
		"MeshFaultInjection": fill(meshfaultinjection.New), "MeshHealthCheck": fill(meshhealthcheck.New),
		"MeshHTTPRoute": fill(meshhttproute.New), "MeshLoadBalancingStrategy": fill(meshloadbalancingstrategy.New),
		"MeshMetric": fill(meshmetric.New), "MeshPassthrough": fill(meshpassthrough.New),
		"MeshProxyPatch": fill(meshproxypatch.New), "MeshRateLimit": fill(meshratelimit.New),
		"MeshRetry": fill(meshretry.New), "MeshTCPRoute": fill(meshtcproute.New),
		"MeshTimeout": fill(meshtimeout.New), "MeshTLS": fill(meshtls.New),
		"MeshTrace": fill(meshtrace.New), "MeshTrafficPermission": fill(meshtrafficpermission.New),
	}
	for _, kind := range kinds.BuiltIn() {
		t.Run(kind.Name, func(t *testing.T) {
			p, err := builders[kind.Name](kind)
			if p.Kind != kind.Name || p.Type.Name != kind.Name {
				t.Errorf("the builder makes a %s of type %s", p.Kind, p.Type.Name)
			}
			if err != nil && strings.Contains(err.Error(), "must be a *") {
				t.Errorf("the Conf types of the builder differ from those of the kind: %v", err)
			}
		})
	}
}
