package translators

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// meshTimeout translates MeshTimeout: connect, idle and connection timeouts of
// clusters and listeners, request and stream timeouts of routes. Zero switches a
// timeout off.
func meshTimeout() xds.Translator {
	return xds.Translator{
		Kind:     "MeshTimeout",
		Cluster:  with(clusterTimeouts),
		Route:    with(routeTimeouts),
		Outbound: with(outboundTimeouts),
		Inbound:  inboundTimeouts,
		Chain:    inboundConnectionTimeouts,

		IgnoredByGRPC: ignoredByGRPC("gRPC clients manage their connections and streams themselves; requestTimeout and maxStreamDuration limit calls",
			"/connectionTimeout", "/idleTimeout", "/http/streamIdleTimeout", "/http/maxConnectionDuration", "/http/requestHeadersTimeout"),
	}
}

func clusterTimeouts(c *xds.Cluster, e *results.Effective, timeout *meshtimeout.Conf) {
	setDuration(&c.Message.ConnectTimeout, timeout.ConnectionTimeout)
	if c.HTTP == nil {
		return
	}
	options := c.HTTP.CommonHttpProtocolOptions
	setDuration(&options.IdleTimeout, timeout.IdleTimeout)
	if timeout.HTTP != nil {
		setLimit(&options.MaxConnectionDuration, timeout.HTTP.MaxConnectionDuration)
	}
}

func outboundTimeouts(o *xds.Outbound, e *results.Effective, timeout *meshtimeout.Conf) {
	setConnectionTimeouts(o.Filters, timeout)
	if o.TCP != nil {
		o.WarnRoute(e, "/connectionTimeout", "all routes of an outbound share the connections of its clusters")
		o.WarnHTTPFields(e, noRequests)
	}
}

// setConnectionTimeouts sets the timeouts of the connections of clients.
func setConnectionTimeouts(f *xds.Filters, timeout *meshtimeout.Conf) {
	if f.TCP != nil {
		setDuration(&f.TCP.IdleTimeout, timeout.IdleTimeout)
		return
	}
	setDuration(&f.Manager.CommonHttpProtocolOptions.IdleTimeout, timeout.IdleTimeout)
	if timeout.HTTP != nil {
		setDuration(&f.Manager.RequestHeadersTimeout, timeout.HTTP.RequestHeadersTimeout)
	}
}

func routeTimeouts(r *xds.Route, e *results.Effective, timeout *meshtimeout.Conf) {
	for _, field := range []string{"/connectionTimeout", "/idleTimeout", "/http/maxConnectionDuration", "/http/requestHeadersTimeout"} {
		r.WarnRoute(e, field, "all routes of an outbound share its connections")
	}
	if timeout.HTTP == nil {
		return
	}
	action := r.Action()
	if action == nil {
		r.WarnRoute(e, "/http", selfAnswered)
		return
	}
	longest := timeout.HTTP.MaxStreamDuration
	if r.Client == xds.ProxylessGRPC {
		longest = callDuration(timeout.HTTP)
	}
	setRequestTimeouts(action, timeout.HTTP, longest)
}

// setRequestTimeouts sets the timeouts of the requests of a route. Longest limits a
// stream; nil: there is no limit.
func setRequestTimeouts(action *routev3.RouteAction, http *meshtimeout.HTTP, longest *conf.Duration) {
	setDuration(&action.Timeout, http.RequestTimeout)
	setDuration(&action.IdleTimeout, http.StreamIdleTimeout)
	if longest != nil {
		action.MaxStreamDuration = &routev3.RouteAction_MaxStreamDuration{}
		setDuration(&action.MaxStreamDuration.MaxStreamDuration, longest)
	}
}

// callDuration returns the limit of gRPC calls, which have one where proxies have two;
// nil if no limit is set. Zero is no limit.
func callDuration(http *meshtimeout.HTTP) *conf.Duration {
	request, stream := http.RequestTimeout, http.MaxStreamDuration
	if request == nil || *request == 0 || stream != nil && *stream != 0 && *stream < *request {
		return stream
	}
	return request
}
