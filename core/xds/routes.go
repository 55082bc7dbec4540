package xds

import (
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Routes is the draft of the routes of an HTTP destination.
type Routes struct {
	Report
	Facets
	// Client is the type of the nodes that get the routes.
	Client      ClientType
	Destination variant.Destination
	Protocol    message.Protocol
	// HostNames reports that the address of an endpoint is a host name.
	HostNames bool
	// External reports that the destination is an external service.
	External bool
	// LongerRegexFirst reports that of two regular expressions of a path the longer one is
	// compared first, as in Kuma.
	LongerRegexFirst bool
	// Message has one virtual host. It gets the routes of List when the draft is finished.
	Message *routev3.RouteConfiguration
	// List are the routes in the order in which requests are compared with them. A new
	// draft has one, the route to the outbound's own service.
	List []*Route

	Backends
}

// Backends are destinations of a mesh that a draft refers to, in addition to its own.
type Backends struct {
	Mesh     string
	Referred []variant.Destination
	Finder
}

// Finder finds destinations that are resources.
type Finder interface {
	// Find returns the cluster of the port that a backend of a route policy refers to, and
	// makes sure that the dataplane has the cluster. Ok is false if there is none (SPEC
	// 17.3). External reports that the backend is an external service.
	Find(*resource.Policy, *resource.BackendRef) (cluster string, external, ok bool)
	// FindsTags reports whether a backend without labels may be a service by its tag.
	FindsTags() bool
}

// Backend returns the name of the cluster for the given tags, and makes sure that the
// dataplane has the cluster.
func (b *Backends) Backend(tags resource.Tags) string {
	d := variant.Destination{Mesh: b.Mesh, Tags: tags}
	name := d.Name()
	if !slices.ContainsFunc(b.Referred, func(known variant.Destination) bool { return known.Name() == name }) {
		b.Referred = append(b.Referred, d)
	}
	return name
}

// VirtualHost returns the only virtual host.
func (r *Routes) VirtualHost() *routev3.VirtualHost { return r.Message.VirtualHosts[0] }

// A Route is the draft of one route.
type Route struct {
	*Report
	Message *routev3.Route
	// Policy is the route policy that made the route; nil for the route to the
	// outbound's own service, and for routes of inbounds.
	Policy   *resource.Policy
	Protocol message.Protocol
	// Client is the type of the nodes that get the route.
	Client ClientType

	cases []routeCase
}

// routeCase is a copy of a route, changed for the requests that have some headers.
type routeCase struct {
	headers []*routev3.HeaderMatcher
	change  func(*routev3.Route)
}

// AddCase adds a case of the route: a copy of the finished route that also requires the
// given headers and is then changed by change.
func (r *Route) AddCase(headers []*routev3.HeaderMatcher, change func(*routev3.Route)) {
	r.cases = append(r.cases, routeCase{headers, change})
}

// Messages returns the cases of the route, then the finished route itself.
func (r *Route) Messages() []*routev3.Route {
	var list []*routev3.Route
	for _, c := range r.cases {
		m := proto.CloneOf(r.Message)
		m.Match.Headers = append(m.Match.Headers, c.headers...)
		c.change(m)
		list = append(list, m)
	}
	return append(list, r.Message)
}

// Action returns the action that sends requests to clusters; nil if the route redirects
// or responds directly.
func (r *Route) Action() *routev3.RouteAction { return r.Message.GetRoute() }

// NewRoute returns a route that sends all requests to the outbound's own service, with the
// default timeouts of outbounds. Requests to an external service get the host name of the
// endpoint as their host (SPEC 17.4).
func (r *Routes) NewRoute() *Route {
	m := message.RouteTo(r.Message.Name, message.OutboundRequestTimeout, message.OutboundStreamIdleTimeout)
	if r.External && r.HostNames && r.Client == Envoy {
		m.GetRoute().HostRewriteSpecifier = &routev3.RouteAction_AutoHostRewrite{AutoHostRewrite: wrapperspb.Bool(true)}
	}
	return &Route{Report: &r.Report, Protocol: r.Protocol, Client: r.Client, Message: m}
}
