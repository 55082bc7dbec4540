package translators

import (
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/meshtcproute"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// meshTCPRoute translates MeshTCPRoute: the backends of the connections of a TCP
// outbound. On an HTTP outbound without routes of MeshHTTPRoutes they are the
// backends of its requests (SPEC 11.5).
func meshTCPRoute() xds.Translator {
	return xds.Translator{
		Kind:     "MeshTCPRoute",
		Routes:   with(tcpRouteOfRequests),
		Outbound: with(tcpRoute),
		Refers: func(c resource.Conf) bool {
			conf := c.(*meshtcproute.Conf)
			return len(conf.Rules) > 0 && referTo(conf.Rules[0].Default.BackendRefs)
		},
	}
}

const tcpBackends = "/rules/0/default/backendRefs"

func tcpRouteOfRequests(r *xds.Routes, e *results.Effective, conf *meshtcproute.Conf) {
	if len(conf.Rules) == 0 {
		return
	}
	for _, route := range r.List {
		if route.Policy != nil {
			r.Warn(diag.NoEffectHere, e, "", "the requests of an HTTP service are routed by MeshHTTPRoutes, such as %s", route.Policy.KRI())
			return
		}
	}
	route := r.NewRoute()
	route.Policy = rulePolicies(e, 1)[0]
	route.Message.Name = route.Policy.KRI()
	if refs := conf.Rules[0].Default.BackendRefs; len(refs) > 0 {
		setBackends(route.Message, backendsOf(r, e, tcpBackends, refs), r.Client)
	}
	r.List = []*xds.Route{route}
}

func tcpRoute(o *xds.Outbound, e *results.Effective, conf *meshtcproute.Conf) {
	if o.TCP == nil || len(conf.Rules) == 0 {
		return
	}
	o.Policy = rulePolicies(e, 1)[0]
	refs := conf.Rules[0].Default.BackendRefs
	if len(refs) == 0 {
		return
	}
	switch backends := backendsOf(o, e, tcpBackends, refs); len(backends) {
	case 0: // connections are closed without a byte
		o.TCP.ClusterSpecifier = &tcpv3.TcpProxy_Cluster{Cluster: o.NoCluster()}
	case 1:
		o.TCP.ClusterSpecifier = &tcpv3.TcpProxy_Cluster{Cluster: backends[0].cluster}
	default:
		weighted := &tcpv3.TcpProxy_WeightedCluster{}
		for _, b := range backends {
			weighted.Clusters = append(weighted.Clusters, &tcpv3.TcpProxy_WeightedCluster_ClusterWeight{
				Name: b.cluster, Weight: b.weight,
			})
		}
		o.TCP.ClusterSpecifier = &tcpv3.TcpProxy_WeightedClusters{WeightedClusters: weighted}
	}
}
