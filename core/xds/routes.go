package xds

import (
	"slices"
	"time"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/variant"
)

// Routes is the draft of the routes of an HTTP destination.
type Routes struct {
	report
	*client
	// GRPC reports that the routes are for a client that is gRPC instead of Envoy.
	GRPC        bool
	Destination variant.Destination
	Protocol    Protocol
	// HostNames reports that an endpoint has a host name for an address.
	HostNames bool
	// Message has one virtual host, to which the routes of List are added when the
	// draft is finished.
	Message *routev3.RouteConfiguration
	// List are the routes in the order in which requests are compared with them. At
	// first it has one, the route to the outbound's own service.
	List []*Route

	backends
}

// backends are destinations of a mesh that a draft refers to, in addition to its own.
type backends struct {
	mesh string
	list []variant.Destination
}

// Backend returns the name of the cluster of a destination, and makes sure that the
// dataplane has this cluster.
func (b *backends) Backend(tags resource.Tags) string {
	d := variant.Destination{Mesh: b.mesh, Tags: tags}
	name := d.Name()
	if !slices.ContainsFunc(b.list, func(known variant.Destination) bool { return known.Name() == name }) {
		b.list = append(b.list, d)
	}
	return name
}

// VirtualHost returns the only virtual host.
func (r *Routes) VirtualHost() *routev3.VirtualHost { return r.Message.VirtualHosts[0] }

// A Route is the draft of one route.
type Route struct {
	*report
	Message *routev3.Route
	// Policy is the route policy that made the route; nil for the route to the
	// outbound's own service, and for routes of inbounds.
	Policy   *resource.Policy
	Protocol Protocol
	// GRPC reports that the route is for a client or a server that is gRPC instead of
	// Envoy.
	GRPC bool

	cases []routeCase
}

// routeCase is a change of a route for some of its requests.
type routeCase struct {
	headers []*routev3.HeaderMatcher
	change  func(*routev3.Route)
}

// AddCase adds a route for those requests of the route that have the given headers as
// well. It is a copy of the finished route, with a change.
func (r *Route) AddCase(headers []*routev3.HeaderMatcher, change func(*routev3.Route)) {
	r.cases = append(r.cases, routeCase{headers, change})
}

// messages returns the finished route, after its cases.
func (r *Route) messages() []*routev3.Route {
	var list []*routev3.Route
	for _, c := range r.cases {
		m := proto.CloneOf(r.Message)
		m.Match.Headers = append(m.Match.Headers, c.headers...)
		c.change(m)
		list = append(list, m)
	}
	return append(list, r.Message)
}

// Action returns the action that sends requests to clusters; nil if the route
// redirects or answers by itself.
func (r *Route) Action() *routev3.RouteAction { return r.Message.GetRoute() }

// NewRoute returns a route for all requests to the outbound's own service, with the
// default timeouts of outbounds.
func (r *Routes) NewRoute() *Route {
	return &Route{report: &r.report, Protocol: r.Protocol, GRPC: r.GRPC,
		Message: routeTo(r.Message.Name, OutboundRequestTimeout, OutboundStreamIdleTimeout)}
}

// routeTo returns a route for all requests to a cluster.
func routeTo(cluster string, request, streamIdle time.Duration) *routev3.Route {
	return &routev3.Route{
		Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
		Action: &routev3.Route_Route{Route: &routev3.RouteAction{
			ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: cluster},
			Timeout:          durationpb.New(request),
			IdleTimeout:      durationpb.New(streamIdle),
		}},
	}
}

// routesKey is all that the routes of a destination depend on.
type routesKey struct {
	destination *destination
	facts       *endpointFacts
	grpc        bool
	confs       *confList
}

// routeConfiguration returns the routes of an HTTP destination.
func (b *Builder) routeConfiguration(key routesKey, d *resource.Dataplane) *built {
	return b.routes.get(key, d, func(client *client) *built {
		name := key.destination.name
		protocol := protocolBetween(key.destination.Tags, key.facts)
		r := &Routes{report: report{place: name}, client: client, Destination: key.destination.Destination,
			GRPC: key.grpc, Protocol: protocol, HostNames: key.facts.names, backends: backends{mesh: key.destination.Mesh}}
		r.Message = &routev3.RouteConfiguration{
			Name:         name,
			VirtualHosts: []*routev3.VirtualHost{{Name: name, Domains: []string{"*"}}},
		}
		r.List = []*Route{r.NewRoute()}
		if key.grpc {
			r.warnIgnoredByRoutes(b.shape.routes, key.confs)
		}
		for i, t := range b.shape.routes {
			if t.Outbound == nil { // else the draft of the listener reports it
				r.warnIgnored(t, key.confs.own[i])
			}
			for _, route := range key.confs.routes {
				r.warnIgnored(t, route.confs[i])
			}
			if t.Routes != nil {
				t.Routes(r, key.confs.own[i])
			}
		}
		for _, route := range r.List {
			confs := key.confs.of(route.Policy)
			for i, t := range b.shape.routes {
				if t.Route != nil {
					t.Route(route, confs[i])
				}
			}
		}
		r.warnUnused(key.confs, func(p *resource.Policy) bool {
			return slices.ContainsFunc(r.List, func(route *Route) bool { return route.Policy != nil && route.Policy.ID == p.ID })
		})
		for _, route := range r.List {
			r.VirtualHost().Routes = append(r.VirtualHost().Routes, route.messages()...)
		}
		return b.finish(&Part{report: r.report, Origin: OutboundOrigin, Tags: key.destination.Tags,
			Messages: []proto.Message{r.Message}, backends: r.backends.list, client: client, confs: key.confs.all()}, key.confs.finish)
	})
}

// warnIgnoredByRoutes reports what gRPC ignores of the confs of an outbound and of its
// routes.
func (r *report) warnIgnoredByRoutes(translators []*Translator, confs *confList) {
	for i, t := range translators {
		r.warnIgnoredByGRPC(t, confs.own[i])
		for _, route := range confs.routes {
			r.warnIgnoredByGRPC(t, route.confs[i])
		}
	}
}
