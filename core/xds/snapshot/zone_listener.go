package snapshot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The listeners of a zone proxy (SPEC 17.4). Each has a filter chain for each server name:
//
//   - A ZoneIngress passes TLS as it is to the dataplanes of a destination. It sees neither
//     certificates nor requests, so the dataplanes decide about permissions.
//   - A ZoneEgress ends TLS with the identity of its dataplane, and connects to an external
//     service. Permissions decide about the clients as they do at an inbound.
//
// They have the confs that inbounds in their place would have.

// hasBoth reports whether a dataplane has inbounds and listeners. The configs of such a
// dataplane have its inbounds alone.
func hasBoth(d *resource.Dataplane) bool { return len(d.Inbounds) > 0 && len(d.Listeners) > 0 }

// zoneListener is the draft of a listener of a zone proxy.
type zoneListener struct {
	*snapshotBuilder
	tls      serverTLS
	listener *resource.Listener
	index    int
	message  *listenerv3.Listener
	origin   xds.Origin
	shapes   []*xds.Translator // of the chains and what they lead to
	// proxies are the dataplane with listeners as inbounds, and its confs, by protocol.
	proxies map[message.Protocol]*zoneProxy
	egress  *egressConfs
	part    *draft
	decided []seal.Chain
}

type zoneProxy struct {
	dataplane *resource.Dataplane
	confs     *dataplaneConfs
}

// addZoneListeners adds the listeners of a zone proxy and what they lead to.
func (sb *snapshotBuilder) addZoneListeners(tls serverTLS) {
	d := sb.dataplane
	if len(d.Listeners) == 0 {
		return
	}
	sb.snapshot.zone = &zoneReads{exposed: sb.in.exposures()}
	proxies := map[message.Protocol]*zoneProxy{}
	for _, e := range sb.snapshot.zone.exposed {
		protocol := message.TCP
		if e.egress {
			protocol = message.ProtocolOf(e.destination.target.port.Protocol)
		}
		if proxies[protocol] == nil {
			proxy := d.ListenersAsInbounds(string(protocol))
			proxies[protocol] = &zoneProxy{proxy, sb.confsOf(sb.configsOfProxy(proxy), sb.client.Type, sb.places)}
		}
	}
	egress := sb.egressConfs()
	for i := range d.Listeners {
		z := &zoneListener{snapshotBuilder: sb, tls: tls, listener: &d.Listeners[i], index: i, proxies: proxies, egress: egress}
		z.add()
	}
}

// zoneReads are what the listeners of a zone proxy were built from.
type zoneReads struct {
	exposed []exposure
	sets    []destinationSet // the endpoints of destinations
	view    *core.View       // of a dataplane with inbounds and listeners, see hasBoth
}

// configsOfProxy returns the configs of a zone proxy with its listeners as inbounds. Without
// inbounds of its own, its configs have the same policies.
func (sb *snapshotBuilder) configsOfProxy(proxy *resource.Dataplane) []*results.Config {
	if !hasBoth(sb.dataplane) {
		return sb.in.configsAs(proxy)
	}
	sb.snapshot.zone.view = sb.in.view()
	return sb.in.configsOf(proxy)
}

// zoneListenerName returns the name of a listener of a zone proxy in Envoy.
func zoneListenerName(l *resource.Listener) string {
	return fmt.Sprintf("self_%s_dp_%s", strings.ToLower(l.Type()), l.SectionName())
}

// add adds the listener, with a chain for each server name. If an egress has no identity,
// or the listener no chain, it adds warnings instead.
func (z *zoneListener) add() {
	name := zoneListenerName(z.listener)
	if z.listener.Egress && z.tls.identity == nil {
		z.Warnings = append(z.Warnings, xds.Warning{Code: diag.AbsentDependency, Place: name,
			Message: "the listener is left out: an egress needs an identity, and no MeshIdentity gives the dataplane one"})
		return
	}
	z.message = &listenerv3.Listener{
		Name: name, Address: message.SocketAddress(cmp.Or(z.listener.Address, z.dataplane.Address), z.listener.Port),
		TrafficDirection: corev3.TrafficDirection_INBOUND,
		ListenerFilters:  []*listenerv3.ListenerFilter{message.TLSInspector()},
	}
	if z.transparent != nil {
		z.message.BindToPort = wrapperspb.Bool(false)
	}
	z.origin = xds.IngressOrigin
	if z.listener.Egress {
		z.origin = xds.EgressOrigin
	}
	z.part = &draft{Part: xds.Part{Report: xds.Report{Place: name, OfInbound: true}, Origin: z.origin, Tags: z.semantics.ComparedTags(z.dataplane, z.listener.Tags), Messages: []proto.Message{z.message}}}
	for _, t := range z.shape.inbounds {
		if z.listener.Egress || t.Kind != permission.KindName && t.Kind != "MeshTLS" {
			z.shapes = append(z.shapes, t)
		}
	}
	taken := map[string]bool{}
	for _, e := range z.snapshot.zone.exposed {
		switch {
		case e.egress != z.listener.Egress:
		case e.serverName == "":
			z.part.Warnings = append(z.part.Warnings, xds.Warning{Code: diag.NoEndpoints, Place: name, Inspected: true,
				Message: fmt.Sprintf("it does not lead to %s: its names do not make a server name (SNI)", e.destination.name)})
		case taken[e.serverName]: // in Kuma 2, two services of one name have one server name
			z.part.WarnPlace(diag.SameName, "it does not lead to %s: another destination has the server name %s", e.destination.name, e.serverName)
		default:
			taken[e.serverName] = true
			z.expose(&e)
		}
	}
	if len(z.message.FilterChains) == 0 { // Envoy refuses a listener without
		z.addOwn(&built{warnings: z.part.Warnings})
		return
	}
	z.part.Sealed = seal.New(z.message, z.decided)
	z.addOwn(z.finish(z.part, z.client.Lacks, z.confs.finish))
}

// expose adds the filter chain for a server name and what it leads to.
func (z *zoneListener) expose(e *exposure) {
	target := e.destination.target
	protocol := message.TCP
	if z.listener.Egress {
		protocol = message.ProtocolOf(target.port.Protocol)
	}
	proxy := z.proxies[protocol]
	name := z.message.Name + "/" + e.destination.name
	x := &xds.Inbound{
		Report: xds.Report{Place: z.message.Name, OfInbound: true}, Dataplane: proxy.dataplane, Identity: z.tls.identity, TrustDomain: z.tls.trustDomain,
		Index: z.index, Inbound: &proxy.dataplane.Inbounds[z.index], Protocol: protocol, Client: z.client.Type, Lacks: z.client.Lacks, PermissionsNotApplied: z.tls.open,
		Listener: &listenerv3.Listener{Name: name}, // names what belongs to the chain
	}
	x.Memo = z.memo
	x.Collectors = z.collectors(slices.ContainsFunc(z.shapes, func(t *xds.Translator) bool { return inboundRefers(proxy.confs.inbound(t.Kind, z.index)) }))
	if z.listener.Egress {
		x.Cluster, x.TLS = externalCluster(name, target.external), z.tls.source.DownstreamTLS()
	} else {
		set := z.in.endpoints(e.destination)
		x.Cluster = message.NewCluster(name, message.InboundConnectTimeout)
		message.UseEDS(x.Cluster)
		z.addShared(z.zoneEndpoints(name, set))
	}
	if protocol.IsHTTP() {
		x.HTTP = message.NewHTTPOptions(protocol, message.OutboundIdleTimeout)
		x.Routes = []*xds.Route{x.NewRoute()}
	}
	for _, t := range z.shapes {
		conf := proxy.confs.inbound(t.Kind, z.index)
		x.WarnIgnoredInbound(t, conf)
		if t.Inbound != nil {
			t.Inbound(x, conf)
		}
	}
	for _, r := range x.Routes { // translators may have added some
		if target.external.endpoints.facts.names && r.Action() != nil {
			r.Action().HostRewriteSpecifier = &routev3.RouteAction_AutoHostRewrite{AutoHostRewrite: wrapperspb.Bool(true)}
		}
	}
	var to *confList
	if z.listener.Egress {
		to = z.egress.shapeCluster(z, x, e.destination)
	}
	message.SetHTTPOptions(x.Cluster, x.HTTP)
	z.addChain(x, proxy, e.serverName)
	z.addLedTo(x, proxy, to, target.key())
}

// addChain adds the filter chain of a server name.
func (z *zoneListener) addChain(x *xds.Inbound, proxy *zoneProxy, serverName string) {
	c := &xds.Chain{Inbound: x, Filters: &xds.Filters{}, Plaintext: x.TLS == nil}
	if x.Protocol.IsHTTP() { // the certificate of the client is not shown to the external service
		c.Manager = message.NewManager("egress", x.Listener.Name, message.InboundIdleTimeout, message.InboundStreamIdleTimeout)
		c.Manager.ForwardClientCertDetails = hcmv3.HttpConnectionManager_SANITIZE
	} else {
		c.TCP = message.NewTCPProxy(string(z.origin), x.Cluster.Name, message.InboundIdleTimeout)
	}
	if z.listener.Egress && x.Client == xds.Envoy {
		c.RecordConnection()
	}
	for _, t := range z.shapes {
		if t.Chain != nil {
			t.Chain(c, proxy.confs.inbound(t.Kind, z.index))
		}
	}
	chain := &listenerv3.FilterChain{
		Name: x.Listener.Name, Filters: c.List(),
		FilterChainMatch: &listenerv3.FilterChainMatch{ServerNames: []string{serverName}, TransportProtocol: "tls"},
	}
	if x.TLS != nil {
		chain.TransportSocket = message.TransportSocket(x.TLS)
	}
	z.message.FilterChains = append(z.message.FilterChains, chain)
	z.decided = append(z.decided, c.Decided())
}

// addLedTo adds the cluster, the routes and the extensions of a filter chain. To is the confs
// of `to` that shape the cluster, and key the secret that it may use; both may be nil.
func (z *zoneListener) addLedTo(x *xds.Inbound, proxy *zoneProxy, to *confList, key *wire.Resource) {
	z.part.Warnings = append(z.part.Warnings, x.Warnings...)
	z.part.Applied = append(z.part.Applied, x.Applied...)
	part := &draft{Part: xds.Part{Report: xds.Report{Place: z.message.Name, OfInbound: true}, Origin: z.origin, Tags: z.semantics.ComparedTags(z.dataplane, z.listener.Tags), Messages: []proto.Message{x.Cluster}}, key: key}
	if x.Routes != nil {
		part.Messages = append(part.Messages, inboundRoutes(x, x.Listener.Name))
	}
	for _, c := range x.Clusters {
		part.Messages = append(part.Messages, c)
	}
	part.confs, part.policies = proxy.confs.inboundConfs(z.index, z.shapes).shaping()
	if to != nil {
		part.confs = append(part.confs, to.all()...)
	}
	if z.part.confs == nil { // other protocols have the same policies
		z.part.confs, z.part.policies = part.confs, part.policies
	}
	done := z.finish(part, z.client.Lacks, z.confs.finish)
	for _, e := range x.Extensions {
		done.resources = append(done.resources, z.extension(e, nil))
	}
	z.addOwn(done)
}

// externalCluster returns the cluster of an external service at an egress.
func externalCluster(name string, x *external) *clusterv3.Cluster {
	c := message.NewCluster(name, message.OutboundConnectTimeout)
	c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC}
	if x.endpoints.facts.names {
		message.Resolve(c)
	}
	c.LoadAssignment = assignmentOf(name, priorities(x.endpoints.list))
	c.TransportSocket = proto.CloneOf(x.socket)
	return c
}

// zoneEndpointsKey is all that the endpoints of a destination depend on that an ingress
// leads to.
type zoneEndpointsKey struct {
	name string
	set  *endpointSet
}

// zoneEndpoints returns the endpoints of a destination at an ingress.
func (b *Builder) zoneEndpoints(name string, set *endpointSet) *built {
	return b.zoneParts.Get(zoneEndpointsKey{name, set}, func() *built {
		var localities []xds.Locality
		if len(set.list) > 0 {
			localities = []xds.Locality{{Weight: 1, Endpoints: set.list}}
		}
		return &built{resources: []*wire.Resource{b.resources.make(wire.EndpointType, name, assignmentOf(name, localities))}}
	})
}

func assignmentOf(name string, localities []xds.Locality) *endpointv3.ClusterLoadAssignment {
	m := &endpointv3.ClusterLoadAssignment{ClusterName: name}
	for i := range localities {
		m.Endpoints = append(m.Endpoints, localityMessage(&localities[i], clientTLS{}.chooser(nil), nil))
	}
	return m
}
