package xds

import (
	xdsmatcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	matchingv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/matching/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/memo"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// An Inbound is the draft of an inbound: its listener, the cluster of the workload and
// the routes to the workload (SPEC 11.2).
type Inbound struct {
	Report
	collectors
	// Memo is shared by all inbounds of a state.
	Memo      *memo.Memo
	Dataplane *resource.Dataplane
	// Identity is the identity of the dataplane; nil if it has none.
	Identity *identity.Identity
	Index    int // of the inbound
	Inbound  *resource.Inbound
	Protocol message.Protocol
	// Client is the type of the node that serves the inbound.
	Client ClientType
	// Lacks are the capabilities that the client does not have.
	Lacks capability.Set

	Listener *listenerv3.Listener
	// Cluster is the cluster of the workload. HTTP are the options of HTTP connections
	// to it; nil for TCP.
	Cluster *clusterv3.Cluster
	HTTP    *httpv3.HttpProtocolOptions
	// Routes are in the order in which requests are compared with them; nil for TCP. A
	// new draft has one, for all requests.
	Routes []*Route
	// TLS presents the identity of the dataplane and verifies clients; nil if the
	// dataplane has no identity.
	TLS *tlsv3.DownstreamTlsContext
	// Permissive adds a filter chain for clients that do not use TLS of the mesh. It is
	// ignored if the dataplane has no identity.
	Permissive bool
	// RefuseEscapedSlashes makes the inbound answer 400 to a path with an escaped slash,
	// which the workload may decode differently than rules compare it (SPEC 11.2). Only
	// HTTP inbounds of Envoy can have it.
	RefuseEscapedSlashes bool

	TrustDomain string // see [Visibility]
	// PermissionsNotApplied reports that every client is allowed (SPEC 17.1).
	PermissionsNotApplied bool

	// Enabled are the configs of the filters that routes enable, by name; see Enable.
	Enabled map[string]*anypb.Any
	// Extensions are the configs of filters that are resources of their own.
	Extensions []*corev3.TypedExtensionConfig

	clientRules map[*results.From]clientRules
}

// clientRules is the result of [Inbound.ClientRules].
type clientRules struct {
	rules []results.SelectorRule
	err   error
}

// ClientRules returns [results.From.Ordered] of from. The result may be large, so the first
// call computes it for all translators and filter chains of the inbound. Callers must not
// change it.
func (i *Inbound) ClientRules(from *results.From) ([]results.SelectorRule, error) {
	known, ok := i.clientRules[from]
	if !ok {
		known.rules, known.err = from.Ordered(partition.Limits{})
		if i.clientRules == nil {
			i.clientRules = map[*results.From]clientRules{}
		}
		i.clientRules[from] = known
	}
	return known.rules, known.err
}

// Enable enables a filter of [Filters.AddDisabled] in all routes of the inbound, with the
// result of [RouteFilter]. All filter chains share the routes.
func (i *Inbound) Enable(name string, filter *anypb.Any) { i.enable(name, sharing(filter)) }

// RouteFilter returns what enables a filter in routes. The matcher chooses the filter that
// runs.
func RouteFilter(matcher *xdsmatcherv3.Matcher) *anypb.Any {
	return message.Any(&matchingv3.ExtensionWithMatcherPerRoute{XdsMatcher: matcher})
}

func (i *Inbound) enable(name string, config *anypb.Any) {
	if i.Enabled == nil {
		i.Enabled = map[string]*anypb.Any{}
	}
	i.Enabled[name] = config
}

// RequestForm returns the form of RBAC filters that the proxy reads.
func (i *Inbound) RequestForm() rbac.Form {
	switch {
	case i.Client == ProxylessGRPC:
		return rbac.RulesForm
	case i.Lacks.Has(capability.ByteExpressions):
		return rbac.CharacterMatcherForm
	}
	return rbac.MatcherForm
}

// NewRoute returns a route that sends all requests to the workload, with the default
// timeouts of inbounds.
func (i *Inbound) NewRoute() *Route {
	return &Route{Report: &i.Report, Protocol: i.Protocol, Client: i.Client,
		Message: message.RouteTo(i.Cluster.Name, message.InboundRequestTimeout, message.InboundStreamIdleTimeout)}
}

// A Chain is the draft of a filter chain of an inbound.
type Chain struct {
	*Inbound
	*Filters
	// Plaintext reports that the proxy sees no client certificates on the chain.
	Plaintext bool
}

// AddPermissionFilter adds the filter that decides about the requests of an HTTP inbound.
// Envoy gets its config as a resource, so that an edit of permissions changes no listener
// (SPEC 11.8); gRPC has it in the listener.
func (c *Chain) AddPermissionFilter(f rbac.Filter) {
	if c.Client != Envoy {
		c.AddHTTPFilter(f.Name, f.Config)
		return
	}
	name := message.PermissionName(c.Listener.Name, c.Plaintext && c.TLS != nil)
	c.addHTTP(message.Discovered(name, f.Config.TypeUrl))
	c.Extensions = append(c.Extensions, &corev3.TypedExtensionConfig{Name: name, TypedConfig: f.Config})
}

// AcceptURIs makes the handshake of the chain refuse clients unless one of their URI SANs
// matches. It must only be called on a chain with TLS.
func (c *Chain) AcceptURIs(uris []*matcherv3.StringMatcher) {
	validation := c.TLS.CommonTlsContext.GetCombinedValidationContext().DefaultValidationContext
	for _, uri := range uris {
		message.AcceptURI(validation, uri)
	}
}
