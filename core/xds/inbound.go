package xds

import (
	"cmp"
	"fmt"
	"time"
	"unique"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	inspectorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/conf/spiffe"
	"github.com/meshmatch/meshmatch/core/identity"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/rbac"
)

// An Inbound is the draft of an inbound: its listener, the cluster of the workload,
// and routes to it (SPEC 11.2).
type Inbound struct {
	report
	collectors
	Dataplane *resource.Dataplane
	// Identity is that of the dataplane; nil if it has none.
	Identity *identity.Identity
	Index    int // of the inbound
	Inbound  *resource.Inbound
	Protocol Protocol
	// GRPC reports that the resources are for a gRPC server instead of Envoy.
	GRPC bool

	Listener *listenerv3.Listener
	// Cluster is the workload; HTTP are the options of HTTP connections to it, nil
	// for TCP.
	Cluster *clusterv3.Cluster
	HTTP    *httpv3.HttpProtocolOptions
	// Routes are in the order in which requests are compared with them; nil for TCP.
	// At first there is one, for all requests.
	Routes []*Route
	// TLS is how the listener presents the identity of the dataplane and verifies
	// clients; nil without identity.
	TLS *tlsv3.DownstreamTlsContext
	// Permissive adds a filter chain for clients without TLS. It is ignored without
	// identity.
	Permissive bool
	// InspectTLS makes the server name and the protocol of a connection available to
	// filters.
	InspectTLS bool

	trustDomain string // see Visibility
}

// RequestForm returns the form of RBAC filters that the proxy reads.
func (i *Inbound) RequestForm() rbac.Form {
	if i.GRPC {
		return rbac.RulesForm
	}
	return rbac.MatcherForm
}

// NewRoute returns a route to the workload for all requests, with the default
// timeouts of inbounds.
func (i *Inbound) NewRoute() *Route {
	return &Route{report: &i.report, Protocol: i.Protocol, GRPC: i.GRPC,
		Message: routeTo(i.Cluster.Name, InboundRequestTimeout, InboundStreamIdleTimeout)}
}

// A Chain is the draft of a filter chain of an inbound.
type Chain struct {
	*Inbound
	*Filters
	// Plaintext reports that clients of the chain have no certificate.
	Plaintext bool
}

// RefuseEscapedSlashes makes the chain answer 400 to a path with an escaped slash, of
// which a comparison of paths may not hold what the workload sees (SPEC 11.2). It
// must only be called for HTTP.
func (c *Chain) RefuseEscapedSlashes() {
	c.Manager.PathWithEscapedSlashesAction = hcmv3.HttpConnectionManager_REJECT_REQUEST
}

// AcceptURIs makes the handshake of the chain refuse clients of whose URI SANs none
// matches. It must only be called on a chain with TLS.
func (c *Chain) AcceptURIs(uris []*matcherv3.StringMatcher) {
	validation := c.TLS.CommonTlsContext.GetCombinedValidationContext().DefaultValidationContext
	for _, uri := range uris {
		acceptURI(validation, uri)
	}
}

// inboundKey is all that the resources of an inbound depend on. Confs contains
// addresses of what the configs of a snapshot refer to.
type inboundKey struct {
	dataplane   *resource.Dataplane
	index       int
	tls         clientTLS
	spiffeID    string
	provider    spiffe.IdentityProviderType // see visibility
	trustDomain string
	grpc        bool
	confs       unique.Handle[string]
}

// inbound returns the resources of an inbound. Before is what they were in the snapshot
// before, or nil; if nothing changed that they depend on, it is the result.
func (b *Builder) inbound(d *resource.Dataplane, index int, tls serverTLS, grpc bool, confs *dataplaneConfs, before *built) *built {
	key := inboundKey{
		dataplane: d, index: index, tls: tls.clientTLS, trustDomain: tls.trustDomain, grpc: grpc,
		confs: confs.inboundKey(index, b.shape.inbounds),
	}
	if tls.identity != nil {
		key.spiffeID, key.provider = tls.identity.SPIFFEID, tls.identity.Source.Spec.Provider.Type
	}
	if before != nil && before.inbound == key {
		return before
	}
	in := &d.Inbounds[index]
	address := cmp.Or(in.Address, d.Address)
	name := fmt.Sprintf("inbound/%s/%d", address, in.Port)
	workload := fmt.Sprintf("local/%s/%d", address, in.Port)
	protocol := inboundProtocol(in)
	if grpc && !protocol.IsHTTP() {
		return &built{inbound: key, warnings: []Warning{{Place: name, Message: fmt.Sprintf(
			"a gRPC server cannot have it: its protocol is %s; set protocol: grpc", protocol)}}}
	}
	i := &Inbound{
		report: report{place: name, isInbound: true}, Dataplane: d, Identity: tls.identity, trustDomain: tls.trustDomain,
		Index: index, Inbound: in, Protocol: protocol, GRPC: grpc,
		Listener: &listenerv3.Listener{
			Name: name, Address: SocketAddress(address, in.Port),
			TrafficDirection: corev3.TrafficDirection_INBOUND,
		},
		Cluster: staticCluster(workload, workloadAddress(in), InboundConnectTimeout),
		TLS:     tls.context(),
	}
	if isTransparent(d) {
		i.Listener.BindToPort = wrapperspb.Bool(false)
	}
	if protocol.IsHTTP() {
		i.HTTP = newHTTPOptions(protocol, InboundIdleTimeout)
		i.Routes = []*Route{i.NewRoute()}
	}
	for _, t := range b.shape.inbound {
		t.Inbound(i, confs.inbound(t.Kind, index))
	}
	setHTTPOptions(i.Cluster, i.HTTP)
	part := &Part{Origin: InboundOrigin, Tags: in.Tags, Messages: []proto.Message{i.Listener, i.Cluster}}
	for _, t := range b.shape.inbounds {
		i.warnIgnoredInbound(t, confs.inbound(t.Kind, index))
	}
	if i.TLS != nil {
		i.addChain(b, confs, false)
	}
	if i.TLS == nil || i.Permissive {
		i.addChain(b, confs, true)
	}
	if i.InspectTLS || len(i.Listener.FilterChains) > 1 {
		i.inspectTLS()
	}
	if i.Routes != nil {
		host := &routev3.VirtualHost{Name: name, Domains: []string{"*"}}
		for _, r := range i.Routes {
			host.Routes = append(host.Routes, r.messages()...)
		}
		routes := &routev3.RouteConfiguration{Name: name, VirtualHosts: []*routev3.VirtualHost{host}}
		if part.Messages = append(part.Messages, routes); grpc {
			part.Messages = i.messagesOfGRPC(routes)
		}
	}
	part.report = i.report
	part.confs, part.policies = confs.shaping(index, b.shape.inbounds)
	done := b.finishOwn(part, confs.finish, before)
	for _, c := range i.clusters {
		collector := b.finish(&Part{Origin: CollectorOrigin, Messages: []proto.Message{c}}, confs.finish)
		done.resources = append(done.resources, collector.resources...)
		done.applied = append(done.applied, collector.applied...)
	}
	done.inbound = key
	return done
}

// inspectTimeout is how long a listener waits for the first bytes of a client, to see
// whether they are TLS, before it takes them for plain text.
const inspectTimeout = time.Second

// inspectTLS adds the listener filter that sees whether a connection is TLS, and its
// SNI. It needs the first bytes of the client. A client in plain text that waits for
// the server is served after a timeout; Envoy's default is to close its connection
// then.
func (i *Inbound) inspectTLS() {
	i.Listener.ListenerFilters = append(i.Listener.ListenerFilters, &listenerv3.ListenerFilter{
		Name:       "envoy.filters.listener.tls_inspector",
		ConfigType: &listenerv3.ListenerFilter_TypedConfig{TypedConfig: message.Any(&inspectorv3.TlsInspector{})},
	})
	if last := i.Listener.FilterChains[len(i.Listener.FilterChains)-1]; last.TransportSocket == nil {
		i.Listener.ListenerFiltersTimeout = durationpb.New(inspectTimeout)
		i.Listener.ContinueOnListenerFiltersTimeout = true
	}
}

// addChain adds a filter chain to the listener.
func (i *Inbound) addChain(b *Builder, confs *dataplaneConfs, plaintext bool) {
	c := &Chain{Inbound: i, Filters: &Filters{}, Plaintext: plaintext}
	if i.Protocol.IsHTTP() {
		c.Manager = newManager("inbound", i.Listener.Name, InboundIdleTimeout, InboundStreamIdleTimeout)
		c.Manager.NormalizePath = wrapperspb.Bool(true)
		c.Manager.MergeSlashes = true
		c.Manager.ForwardClientCertDetails = hcmv3.HttpConnectionManager_SANITIZE_SET
		c.Manager.SetCurrentClientCertDetails = &hcmv3.HttpConnectionManager_SetCurrentClientCertDetails{Uri: true}
	} else {
		c.TCP = newTCP("inbound", i.Cluster.Name, InboundIdleTimeout)
	}
	for _, t := range b.shape.chain {
		t.Chain(c, confs.inbound(t.Kind, i.Index))
	}
	chain := &listenerv3.FilterChain{Filters: c.List()}
	if !plaintext {
		chain.TransportSocket = transportSocket(i.TLS)
	}
	if i.Permissive && i.TLS != nil {
		chain.FilterChainMatch = &listenerv3.FilterChainMatch{TransportProtocol: "tls"}
		if plaintext {
			chain.FilterChainMatch.TransportProtocol = "raw_buffer"
		}
	}
	i.Listener.FilterChains = append(i.Listener.FilterChains, chain)
}

// warnIgnoredInbound reports the ignored fields of all confs of an inbound.
func (r *report) warnIgnoredInbound(t *Translator, conf InboundConf) {
	r.warnIgnored(t, conf.Default)
	if conf.InboundConfig == nil || len(t.Ignored) == 0 {
		return
	}
	for k := range conf.Rules {
		r.warnIgnored(t, conf.Rules[k].Effective)
	}
	if conf.From == nil {
		return
	}
	for _, o := range conf.From.Origins() { // their confs are merged for each client
		eachIgnored(t.Ignored, o.Policy.From[o.Index].Conf, func(pointer, reason string) {
			r.WarnPolicy(o.Policy, o.Index, pointer, "%s", reason)
		})
	}
}
