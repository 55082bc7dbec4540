package translators

import (
	"time"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/rules"
	"github.com/meshmatch/meshmatch/core/xds"
)

// meshTimeout translates MeshTimeout: connect, idle and connection timeouts of
// clusters and listeners, request and stream timeouts of routes. Zero switches a
// timeout off.
func meshTimeout() xds.Translator {
	return xds.Translator{
		Kind:     "MeshTimeout",
		Cluster:  clusterTimeouts,
		Route:    routeTimeouts,
		Outbound: outboundTimeouts,
		Inbound:  inboundTimeouts,
		Chain:    inboundConnectionTimeouts,

		IgnoredByGRPC: ignoredByGRPC("gRPC clients manage their connections and streams themselves; requestTimeout and maxStreamDuration limit calls",
			"/connectionTimeout", "/idleTimeout", "/http/streamIdleTimeout", "/http/maxConnectionDuration", "/http/requestHeadersTimeout"),
	}
}

func clusterTimeouts(c *xds.Cluster, e *rules.Effective) {
	timeout := rules.ConfOf[meshtimeout.Conf](e)
	if timeout == nil {
		return
	}
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

func outboundTimeouts(o *xds.Outbound, e *rules.Effective) {
	timeout := rules.ConfOf[meshtimeout.Conf](e)
	switch {
	case timeout == nil:
	case o.TCP != nil:
		setDuration(&o.TCP.IdleTimeout, timeout.IdleTimeout)
		o.WarnRoute(e, "/connectionTimeout", "all routes of an outbound share the connections of its clusters")
		o.WarnProtocol(e, "/http", noRequests)
	default:
		setDuration(&o.Manager.CommonHttpProtocolOptions.IdleTimeout, timeout.IdleTimeout)
		if timeout.HTTP != nil {
			setDuration(&o.Manager.StreamIdleTimeout, timeout.HTTP.StreamIdleTimeout)
			setDuration(&o.Manager.RequestHeadersTimeout, timeout.HTTP.RequestHeadersTimeout)
		}
	}
}

func routeTimeouts(r *xds.Route, e *rules.Effective) {
	timeout := rules.ConfOf[meshtimeout.Conf](e)
	if timeout == nil {
		return
	}
	for _, field := range []string{"/connectionTimeout", "/idleTimeout", "/http/maxConnectionDuration", "/http/requestHeadersTimeout"} {
		r.WarnRoute(e, field, "all routes of an outbound share its connections")
	}
	if timeout.HTTP == nil {
		return
	}
	action := r.Action()
	if action == nil {
		r.WarnRoute(e, "/http", "the proxy answers the requests of the route by itself")
		return
	}
	setDuration(&action.Timeout, timeout.HTTP.RequestTimeout)
	setDuration(&action.IdleTimeout, timeout.HTTP.StreamIdleTimeout)
	longest := timeout.HTTP.MaxStreamDuration
	if r.GRPC {
		longest = callDuration(timeout.HTTP)
	}
	if d := longest; d != nil {
		action.MaxStreamDuration = &routev3.RouteAction_MaxStreamDuration{}
		setDuration(&action.MaxStreamDuration.MaxStreamDuration, d)
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

// setDuration replaces a duration of a message by one of a conf, if that is set. Envoy
// counts milliseconds, and zero often is no limit: less than one is rounded up.
func setDuration(to **durationpb.Duration, d *conf.Duration) {
	if d == nil {
		return
	}
	*to = durationpb.New(time.Duration(*d))
	if *d > 0 && time.Duration(*d) < time.Millisecond {
		*to = durationpb.New(time.Millisecond)
	}
}

// setLimit is setDuration for a field that has no value for no limit: zero removes
// it.
func setLimit(to **durationpb.Duration, d *conf.Duration) {
	if setDuration(to, d); d != nil && *d == 0 {
		*to = nil
	}
}
