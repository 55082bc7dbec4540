package snapshot

import (
	"cmp"
	"fmt"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// inboundKey is all that the resources of an inbound depend on.
type inboundKey struct {
	dataplane   *resource.Dataplane
	spiffeID    string
	trustDomain string
	confs       *inboundConfs
	index       int32 // small ones together: each part of a dataplane has a key
	tls         clientTLS
	client      xds.ClientType
	lacks       capability.Set // of the client
	hasTags     bool           // certificates of clients can have tags; see Visibility
	open        bool           // no permission is applied
	redirected  bool
	taken       takenAddresses
	collectors  *collector.Directory // that confs refer to; nil: they refer to none
}

// inbound returns the resources of an inbound of the dataplane. Before is what they were in
// the previous snapshot, or nil; it is the result if nothing that they depend on has
// changed.
func (sb *snapshotBuilder) inbound(index int, tls serverTLS, before *built) *built {
	key := sb.inboundKey(index, tls)
	if before != nil && before.inbound == key {
		return before
	}
	b, confs := sb.Builder, sb.confs
	i := sb.inboundDraft(key, tls)
	if i.Client == xds.ProxylessGRPC && !i.Protocol.IsHTTP() {
		return &built{inbound: key, warnings: []xds.Warning{{Code: diag.NotInGRPC, Place: i.Place, Message: fmt.Sprintf(
			"a gRPC server cannot have it: its protocol is %s; set protocol: grpc", i.Protocol)}}}
	}
	for _, t := range b.shape.inbound {
		t.Inbound(i, confs.inbound(t.Kind, index))
	}
	message.SetHTTPOptions(i.Cluster, i.HTTP)
	for _, t := range b.shape.inbounds {
		i.WarnIgnoredInbound(t, confs.inbound(t.Kind, index))
	}
	decided := b.addChains(i, confs)
	messages := inboundMessages(i)
	part := &draft{Part: xds.Part{
		Origin: xds.InboundOrigin, Tags: b.semantics.ComparedTags(i.Dataplane, i.Inbound.Tags),
		Names:    b.inboundNames(i.Place, i.Cluster.Name, inboundAddress(i.Dataplane, i.Inbound), i.Inbound),
		Messages: messages, Report: i.Report, Sealed: seal.New(i.Listener, decided),
	}, shaped: key.confs.policies}
	done := b.finishOwn(part, key.lacks, confs.finish, before)
	for _, e := range i.Extensions {
		if refersTo(done.resources, wire.ListenerType, e.Name) { // a patch may have removed the filter
			done.resources = append(done.resources, b.extension(e, before))
		}
	}
	for _, c := range i.Clusters {
		collector := b.finish(&draft{Part: xds.Part{Origin: xds.CollectorOrigin, Messages: []proto.Message{c}}}, key.lacks, confs.finish)
		done.resources = append(done.resources, collector.resources...)
		done.applied = append(done.applied, collector.applied...)
	}
	done.inbound = key
	return done
}

// inboundKey returns the key of an inbound of the dataplane.
func (sb *snapshotBuilder) inboundKey(index int, tls serverTLS) inboundKey {
	shapedBy := sb.confs.inboundConfs(index, sb.shape.inbounds)
	key := inboundKey{
		dataplane: sb.dataplane, index: int32(index), tls: tls.clientTLS, trustDomain: tls.trustDomain, client: sb.client.Type, lacks: sb.client.Lacks, open: tls.open, redirected: tls.redirected, taken: tls.taken,
		confs: sb.Builder.inboundConfs.get(shapedBy, shapedBy.complete),
	}
	key.collectors = sb.collectors(key.confs.refers)
	if tls.identity != nil {
		key.spiffeID, key.hasTags = tls.identity.SPIFFEID, tls.identity.Source.Spec.Provider.Type == spiffe.Extension
	}
	return key
}

// inboundDraft returns the draft of an inbound of the dataplane with defaults, which the
// translators change.
func (sb *snapshotBuilder) inboundDraft(key inboundKey, tls serverTLS) *xds.Inbound {
	d, index := sb.dataplane, int(key.index)
	in := &d.Inbounds[index]
	address, protocol := inboundAddress(d, in), inboundProtocol(in)
	name := inboundName(address, in.Port)
	i := &xds.Inbound{
		Report: xds.Report{Place: name, OfInbound: true}, Dataplane: d, Identity: tls.identity, TrustDomain: tls.trustDomain,
		Index: index, Inbound: in, Protocol: protocol, Client: sb.client.Type, Lacks: sb.client.Lacks, PermissionsNotApplied: tls.open,
		Listener: &listenerv3.Listener{
			Name: name, Address: message.SocketAddress(address, in.Port),
			TrafficDirection: corev3.TrafficDirection_INBOUND,
		},
		Cluster: message.NewStaticCluster(fmt.Sprintf("local/%s/%d", address, in.Port), workloadAddress(in), message.InboundConnectTimeout),
		TLS:     tls.source.DownstreamTLS(),
	}
	i.Collectors, i.Memo = key.collectors, sb.memo
	if tls.redirected {
		i.Listener.BindToPort = wrapperspb.Bool(false)
		i.Listener.AdditionalAddresses = workloadAddresses(d, index, takenList(tls.taken))
	}
	if protocol.IsHTTP() {
		i.HTTP = message.NewHTTPOptions(protocol, message.InboundIdleTimeout)
		i.Routes = []*xds.Route{i.NewRoute()}
	}
	return i
}

// inboundAddress returns the address at which the proxy has an inbound.
func inboundAddress(d *resource.Dataplane, in *resource.Inbound) string {
	return cmp.Or(in.Address, d.Address)
}

// inboundMessages returns the messages of an inbound whose listener is complete.
func inboundMessages(i *xds.Inbound) []proto.Message {
	messages := []proto.Message{i.Listener, i.Cluster}
	if i.Routes == nil {
		return messages
	}
	routes := inboundRoutes(i, i.Place)
	if i.Client == xds.ProxylessGRPC {
		return messagesOfGRPC(i, routes)
	}
	return append(messages, routes)
}

// inboundRoutes returns the routes of an HTTP inbound, or of a filter chain of an egress, whose
// listener is complete.
func inboundRoutes(i *xds.Inbound, name string) *routev3.RouteConfiguration {
	var m struct {
		routes  routev3.RouteConfiguration
		host    routev3.VirtualHost
		hosts   [1]*routev3.VirtualHost
		domains [1]string
	}
	host := &m.host
	m.hosts[0], m.domains[0] = host, "*"
	m.routes.Name, m.routes.VirtualHosts = name, m.hosts[:]
	host.Name, host.Domains, host.TypedPerFilterConfig, host.RequestHeadersToRemove = name, m.domains[:], i.Enabled, i.HiddenHeaders()
	if i.RefuseEscapedSlashes && i.Client == xds.Envoy {
		host.Routes = append(host.Routes, message.RefuseEscapedSlashes())
	}
	for _, r := range i.Routes {
		host.Routes = append(host.Routes, r.Messages()...)
	}
	return &m.routes
}

func inboundName(address string, port uint32) string {
	return fmt.Sprintf("inbound/%s/%d", address, port)
}

// inspectTimeout is how long a listener waits for the first bytes of a client, to
// detect TLS. Then it takes them for plain text.
const inspectTimeout = time.Second

// inspectTLS adds the listener filter that sees whether a connection is TLS, and its
// SNI. It needs the first bytes of the client. A client in plain text that waits for
// the server is served after a timeout; Envoy's default is to close its connection
// then.
func inspectTLS(i *xds.Inbound) {
	i.Listener.ListenerFilters = append(i.Listener.ListenerFilters, message.TLSInspector())
	if last := i.Listener.FilterChains[len(i.Listener.FilterChains)-1]; last.TransportSocket == nil {
		i.Listener.ListenerFiltersTimeout = durationpb.New(inspectTimeout)
		i.Listener.ContinueOnListenerFiltersTimeout = true
	}
}

// addChains adds the filter chains to the listener, for TLS and for plain text. It returns
// how many filters of each decide.
func (b *Builder) addChains(i *xds.Inbound, confs *dataplaneConfs) []seal.Chain {
	var decided []seal.Chain
	if i.TLS != nil {
		decided = append(decided, b.addChain(i, confs, false))
	}
	if i.TLS == nil || i.Permissive {
		decided = append(decided, b.addChain(i, confs, true))
	}
	if i.TLS != nil && i.Client == xds.Envoy {
		inspectTLS(i)
	}
	return decided
}

// addChain adds a filter chain to the listener. It returns how many of its filters decide.
func (b *Builder) addChain(i *xds.Inbound, confs *dataplaneConfs, plaintext bool) seal.Chain {
	c := &xds.Chain{Inbound: i, Filters: &xds.Filters{}, Plaintext: plaintext}
	if i.Protocol.IsHTTP() {
		c.Manager = message.NewManager("inbound", i.Listener.Name, message.InboundIdleTimeout, message.InboundStreamIdleTimeout)
		c.Manager.ForwardClientCertDetails = hcmv3.HttpConnectionManager_SANITIZE_SET
		c.Manager.SetCurrentClientCertDetails = &hcmv3.HttpConnectionManager_SetCurrentClientCertDetails{Uri: true}
	} else {
		c.TCP = message.NewTCPProxy("inbound", i.Cluster.Name, message.InboundIdleTimeout)
	}
	if i.Client == xds.Envoy {
		c.RecordConnection()
	}
	for _, t := range b.shape.chain {
		t.Chain(c, confs.inbound(t.Kind, i.Index))
	}
	chain := &listenerv3.FilterChain{Filters: c.List()}
	if !plaintext {
		chain.TransportSocket = message.TransportSocket(i.TLS)
	}
	if i.Permissive && i.TLS != nil {
		chain.FilterChainMatch = permissiveMatch(i.Protocol, plaintext)
	}
	i.Listener.FilterChains = append(i.Listener.FilterChains, chain)
	return c.Decided()
}

// permissiveMatch returns which connections a filter chain of an inbound in mode Permissive
// takes. An HTTP inbound takes all TLS for the mesh's TLS. A TCP inbound does so by the
// protocol that proxies offer: everything else, such as a workload's own TLS, goes to the
// workload unchanged.
func permissiveMatch(p message.Protocol, plaintext bool) *listenerv3.FilterChainMatch {
	switch {
	case p.IsHTTP() && plaintext:
		return &listenerv3.FilterChainMatch{TransportProtocol: "raw_buffer"}
	case p.IsHTTP():
		return &listenerv3.FilterChainMatch{TransportProtocol: "tls"}
	case plaintext:
		return nil // Envoy does not come back from a transport protocol to one without ALPN
	}
	return &listenerv3.FilterChainMatch{ApplicationProtocols: []string{message.MeshALPN}}
}
