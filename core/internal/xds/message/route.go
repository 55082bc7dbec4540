package message

import (
	"net/http"
	"time"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/durationpb"
)

// RouteTo returns a route that sends all requests to a cluster.
func RouteTo(cluster string, request, streamIdle time.Duration) *routev3.Route {
	var m struct {
		route               routev3.Route
		match               routev3.RouteMatch
		prefix              routev3.RouteMatch_Prefix
		kind                routev3.Route_Route
		action              routev3.RouteAction
		cluster             routev3.RouteAction_Cluster
		request, streamIdle durationpb.Duration
	}
	m.prefix.Prefix = "/"
	m.match.PathSpecifier = &m.prefix
	m.cluster.Cluster = cluster
	m.action.ClusterSpecifier = &m.cluster
	m.action.Timeout, m.action.IdleTimeout = set(&m.request, request), set(&m.streamIdle, streamIdle)
	m.kind.Route = &m.action
	m.route.Match, m.route.Action = &m.match, &m.kind
	return &m.route
}

// RefuseEscapedSlashes returns the route that answers 400 to a path with an escaped slash
// or backslash.
func RefuseEscapedSlashes() *routev3.Route {
	return &routev3.Route{
		Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_SafeRegex{
			SafeRegex: &matcherv3.RegexMatcher{Regex: `.*%(?:2[fF]|5[cC]).*`},
		}},
		Action: &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{Status: http.StatusBadRequest}},
	}
}
