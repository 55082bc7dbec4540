package translators

import (
	"reflect"
	"time"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// maxDrain is how long a connection that is past its maximal duration may finish the
// requests that it has (SPEC 11.5).
const maxDrain = 5 * time.Second

// inboundTimeouts shapes the cluster of an inbound, and makes a route for each rule
// that has conditions: the first one that matches sets the timeouts of a request.
func inboundTimeouts(i *xds.Inbound, in xds.InboundConf) {
	choices, err := choicesOf(i, in, i.Visibility())
	warnLimit(i, in, err)
	if i.Client == xds.ProxylessGRPC {
		return // warned of by the chain
	}
	all := results.MustConfOf[meshtimeout.Conf](always(choices))
	if all != nil {
		setDuration(&i.Cluster.ConnectTimeout, all.ConnectionTimeout)
		if i.HTTP != nil {
			setDuration(&i.HTTP.CommonHttpProtocolOptions.IdleTimeout, all.IdleTimeout)
		}
	}
	for k := range choices {
		if !choices[k].Empty() {
			warnConnectionTimeouts(i, choices[k].Effective, all)
		}
		if !i.Protocol.IsHTTP() {
			i.WarnInbound(choices[k].Effective, "/http", "a TCP inbound sees no requests")
		}
	}
	if i.Protocol.IsHTTP() && len(choices) > 0 {
		i.Routes = timeoutRoutes(i, choices)
	}
}

// warnConnectionTimeouts warns of timeouts of connections in a conf that applies to
// some requests or clients, unless all have the same.
func warnConnectionTimeouts(i *xds.Inbound, e *results.Effective, all *meshtimeout.Conf) {
	own := connectionTimeouts(results.MustConfOf[meshtimeout.Conf](e))
	others := connectionTimeouts(all)
	for field, timeout := range own {
		if timeout != nil && !reflect.DeepEqual(timeout, others[field]) {
			i.Warn(diag.NoEffectHere, e, field, "a connection begins before its client and its requests are visible: write it for all, without a match")
		}
	}
}

// connectionTimeouts returns the timeouts of connections by their fields.
func connectionTimeouts(c *meshtimeout.Conf) map[string]*conf.Duration {
	if c == nil {
		return nil
	}
	timeouts := map[string]*conf.Duration{"/connectionTimeout": c.ConnectionTimeout, "/idleTimeout": c.IdleTimeout}
	if c.HTTP != nil {
		timeouts["/http/maxConnectionDuration"] = c.HTTP.MaxConnectionDuration
		timeouts["/http/requestHeadersTimeout"] = c.HTTP.RequestHeadersTimeout
	}
	return timeouts
}

// timeoutRoutes returns the routes of an HTTP inbound; the first that matches applies.
func timeoutRoutes(i *xds.Inbound, choices []choice) []*xds.Route {
	var routes []*xds.Route
	for k := range choices {
		c := &choices[k]
		routes = append(routes, timeoutRoute(i, c.routeMatch(i), results.MustConfOf[meshtimeout.Conf](c.Effective)))
	}
	if always(choices) == nil {
		routes = append(routes, i.NewRoute())
	}
	return routes
}

// timeoutRoute returns a route with the timeouts of a conf, which may be nil.
func timeoutRoute(i *xds.Inbound, match *routev3.RouteMatch, timeout *meshtimeout.Conf) *xds.Route {
	r := i.NewRoute()
	r.Message.Match = match
	if timeout != nil && timeout.HTTP != nil {
		setRequestTimeouts(r.Action(), timeout.HTTP, timeout.HTTP.MaxStreamDuration)
	}
	return r
}

// inboundConnectionTimeouts shapes the connections of clients.
func inboundConnectionTimeouts(c *xds.Chain, in xds.InboundConf) {
	choices := visibleChoices(c, in)
	if c.Manager != nil {
		refuseEscapedSlashes(c.Inbound, choices)
	}
	timeout := results.MustConfOf[meshtimeout.Conf](always(choices))
	if timeout == nil {
		return
	}
	setConnectionTimeouts(c.Filters, timeout)
	if c.Manager == nil || timeout.HTTP == nil {
		return
	}
	if d := timeout.HTTP.MaxConnectionDuration; valueOr(d, 0) > 0 {
		setDuration(&c.Manager.CommonHttpProtocolOptions.MaxConnectionDuration, d)
		c.Manager.DrainTimeout = durationpb.New(maxDrain)
	}
}
