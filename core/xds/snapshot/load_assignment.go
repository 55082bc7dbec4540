package snapshot

import (
	"cmp"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
)

// endpointsKey is all that the endpoints of a destination depend on.
type endpointsKey struct {
	destination *destination
	set         *endpointSet
	tls         clientTLS
	client      xds.ClientType
	confs       *confList
}

// endpointPart returns the endpoints of a destination.
func (b *Builder) endpointPart(key endpointsKey, client *client) *built {
	r := xds.Report{Place: key.destination.name}
	m := b.assignment(key, &r, client)
	return b.finish(&draft{Part: xds.Part{Report: r, Origin: xds.OutboundOrigin, Tags: key.destination.Tags, Names: named(key.destination.name, b.kumaNames(key.destination)),
		Messages: []proto.Message{m}, External: key.destination.target.isDirect()}, confs: key.confs.all(), peers: b.endpointPeers(key, client)}, key.confs.lacks, key.confs.finish)
}

// assignment returns the message with the endpoints of a destination.
func (b *Builder) assignment(key endpointsKey, r *xds.Report, client *client) *endpointv3.ClusterLoadAssignment {
	e := &xds.Endpoints{
		Report: r, Facets: client,
		Destination: key.destination.Destination, External: key.destination.target.isExternal(),
		All:     key.set.list,
		Message: &endpointv3.ClusterLoadAssignment{ClusterName: key.destination.name},
	}
	if key.client == xds.ProxylessGRPC {
		e.All = grpcEndpoints(key.set, key.tls, r.WarnPlace)
	}
	switch {
	case key.destination.target.isDirect():
		e.Localities = priorities(e.All)
	case key.destination.target.isMultiZone():
		e.Localities = zonesOf(e.All, client.Zone())
	case len(e.All) > 0:
		e.Localities = []xds.Locality{{Weight: 1, Endpoints: e.All}}
	}
	for i, t := range b.shape.endpoints {
		if t.Outbound == nil { // else the draft of the listener reports it
			r.WarnIgnored(t, key.confs.own[i])
		}
		t.Endpoints(e, key.confs.own[i])
	}
	for _, l := range e.Localities {
		e.Message.Endpoints = append(e.Message.Endpoints, localityMessage(&l, key.tls.chooser(key.set.facts), e.Shown))
	}
	return e.Message
}

func localityMessage(l *xds.Locality, choose socketChooser, shown []string) *endpointv3.LocalityLbEndpoints {
	// gRPC refuses a locality without name, and ignores one without weight.
	m := &endpointv3.LocalityLbEndpoints{
		Priority:            l.Priority,
		Locality:            &corev3.Locality{Zone: l.Zone, SubZone: l.SubZone},
		LoadBalancingWeight: wrapperspb.UInt32(l.Weight),
	}
	for _, e := range l.Endpoints {
		endpoint := endpointMessage(e, choose)
		showTags(e, endpoint, shown)
		m.LbEndpoints = append(m.LbEndpoints, endpoint)
	}
	return m
}

// showTags puts tags of an endpoint into the metadata that Envoy compares with those
// of routes.
func showTags(e *xds.Endpoint, m *endpointv3.LbEndpoint, keys []string) {
	fields := map[string]*structpb.Value{}
	for _, key := range keys {
		if value, present := e.Tags.Get(key); present {
			fields[key] = structpb.NewStringValue(value)
		}
	}
	if len(fields) == 0 {
		return
	}
	if m.Metadata == nil {
		m.Metadata = &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{}}
	}
	m.Metadata.FilterMetadata["envoy.lb"] = &structpb.Struct{Fields: fields}
}

// message returns the endpoint with the metadata by which the cluster chooses its
// transport socket.
func endpointMessage(e *xds.Endpoint, choose socketChooser) *endpointv3.LbEndpoint {
	m := &endpointv3.LbEndpoint{HostIdentifier: &endpointv3.LbEndpoint_Endpoint{
		Endpoint: &endpointv3.Endpoint{Address: message.SocketAddress(e.Address, e.Port)},
	}}
	if socket := choose(e); socket != "" {
		m.Metadata = message.TransportSocketMetadata(socket)
	}
	return m
}

// workloadAddress returns the address of the workload of an inbound (SPEC 11.2).
func workloadAddress(in *resource.Inbound) *corev3.Address {
	return message.SocketAddress(cmp.Or(in.ServiceAddress, "127.0.0.1"), cmp.Or(in.ServicePort, in.Port))
}
