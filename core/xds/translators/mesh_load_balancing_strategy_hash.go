package translators

import (
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/meshmatch/meshmatch/core/diag"
	strategy "github.com/meshmatch/meshmatch/core/kind/meshloadbalancingstrategy"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// hashes are the hash policies of a conf that apply, with the JSON pointer of their
// list.
type hashes struct {
	policies []strategy.HashPolicy
	field    string
}

// warner is a draft that reports fields without effect.
type warner interface {
	Warn(code diag.Code, e *results.Effective, field, format string, args ...any)
}

// hashesOf returns the hash policies of the load balancer, else of the conf. A
// load balancer that does not hash has none.
func hashesOf(draft warner, e *results.Effective, conf *strategy.Conf) hashes {
	own := hashes{conf.HashPolicies, "/hashPolicies"}
	arm := hashes{}
	switch lb := valueOr(conf.LoadBalancer, strategy.LoadBalancer{}); lb.Type {
	case strategy.RingHashType:
		arm = hashes{valueOr(lb.RingHash, strategy.RingHash{}).HashPolicies, "/loadBalancer/ringHash/hashPolicies"}
	case strategy.MaglevType:
		arm = hashes{valueOr(lb.Maglev, strategy.Maglev{}).HashPolicies, "/loadBalancer/maglev/hashPolicies"}
	default:
		if len(own.policies) > 0 {
			draft.Warn(diag.NoEffectHere, e, own.field, "only the load balancers RingHash and Maglev hash")
		}
		return hashes{}
	}
	if len(arm.policies) == 0 {
		return own
	}
	if len(own.policies) > 0 {
		draft.Warn(diag.NoEffectHere, e, own.field, "the load balancer has hash policies of its own")
	}
	return arm
}

// oneCluster is why a route has nothing of its own that its cluster has.
const oneCluster = "all routes of an outbound share its clusters"

func routeHashes(r *xds.Route, e *results.Effective, conf *strategy.Conf) {
	r.WarnRoute(e, "/localityAwareness", oneCluster)
	action := r.Action()
	if action == nil {
		r.WarnRoute(e, "/hashPolicies", selfAnswered)
		return
	}
	h := hashesOf(r, e, conf)
	for field := range e.Fields() {
		if strings.HasPrefix(field, "/loadBalancer") && field != h.field {
			r.WarnRoute(e, field, oneCluster+"; a route has hashPolicies alone")
		}
	}
	for i, p := range h.policies {
		if r.Client == xds.ProxylessGRPC {
			var known bool
			if p, known = grpcHash(p); !known {
				r.Warn(diag.NotInGRPC, e, fmt.Sprintf("%s/%d", h.field, i), "gRPC hashes headers, and the connection of the client")
				continue
			}
		}
		action.HashPolicy = append(action.HashPolicy, requestHash(p))
	}
}

// requestHash returns what a route hashes of a request.
func requestHash(p strategy.HashPolicy) *routev3.RouteAction_HashPolicy {
	m := &routev3.RouteAction_HashPolicy{Terminal: isTrue(p.Terminal)}
	switch p.Type {
	case strategy.HeaderType:
		m.PolicySpecifier = &routev3.RouteAction_HashPolicy_Header_{
			Header: &routev3.RouteAction_HashPolicy_Header{HeaderName: string(p.Header.Name)},
		}
	case strategy.CookieType:
		cookie := &routev3.RouteAction_HashPolicy_Cookie{Name: p.Cookie.Name, Path: string(valueOr(p.Cookie.Path, ""))}
		setDuration(&cookie.Ttl, p.Cookie.TTL)
		m.PolicySpecifier = &routev3.RouteAction_HashPolicy_Cookie_{Cookie: cookie}
	case strategy.ConnectionType, strategy.SourceIPType:
		m.PolicySpecifier = &routev3.RouteAction_HashPolicy_ConnectionProperties_{
			ConnectionProperties: &routev3.RouteAction_HashPolicy_ConnectionProperties{SourceIp: hashesSource(p)},
		}
	case strategy.QueryParameterType:
		m.PolicySpecifier = &routev3.RouteAction_HashPolicy_QueryParameter_{
			QueryParameter: &routev3.RouteAction_HashPolicy_QueryParameter{Name: p.QueryParameter.Name},
		}
	case strategy.FilterStateType:
		m.PolicySpecifier = &routev3.RouteAction_HashPolicy_FilterState_{
			FilterState: &routev3.RouteAction_HashPolicy_FilterState{Key: p.FilterState.Key},
		}
	}
	return m
}

// hashesSource reports whether a policy hashes the address of the client.
func hashesSource(p strategy.HashPolicy) bool {
	return p.Type == strategy.SourceIPType || p.Type == strategy.ConnectionType && isTrue(p.Connection.SourceIP)
}

// connectionHash sets what a TCP outbound hashes: the first policy that a connection
// has something for. Envoy takes one.
func connectionHash(o *xds.Outbound, e *results.Effective, conf *strategy.Conf) {
	if o.TCP == nil {
		return
	}
	o.WarnRoute(e, "/localityAwareness", oneCluster)
	h := hashesOf(o, e, conf)
	for i, p := range h.policies {
		m := &typev3.HashPolicy{}
		switch {
		case len(o.TCP.HashPolicy) > 0:
			o.WarnProtocol(e, fmt.Sprintf("%s/%d", h.field, i), "one thing of a connection is hashed, and there is an earlier one")
			continue
		case hashesSource(p):
			m.PolicySpecifier = &typev3.HashPolicy_SourceIp_{SourceIp: &typev3.HashPolicy_SourceIp{}}
		case p.Type == strategy.FilterStateType:
			m.PolicySpecifier = &typev3.HashPolicy_FilterState_{FilterState: &typev3.HashPolicy_FilterState{Key: p.FilterState.Key}}
		default:
			o.WarnProtocol(e, fmt.Sprintf("%s/%d", h.field, i), noRequests)
			continue
		}
		o.TCP.HashPolicy = append(o.TCP.HashPolicy, m)
	}
}
