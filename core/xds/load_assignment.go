package xds

import (
	"cmp"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/variant"
)

// Endpoints is the draft of the endpoints of a destination.
type Endpoints struct {
	report
	*client
	Destination variant.Destination
	// All are the ready endpoints, by address. A translator must not change them.
	All []*Endpoint
	// Message has all endpoints in one locality.
	Message *endpointv3.ClusterLoadAssignment

	tls clientTLS
}

// Locality returns a locality with some of the endpoints.
func (e *Endpoints) Locality(endpoints []*Endpoint) *endpointv3.LocalityLbEndpoints {
	l := &endpointv3.LocalityLbEndpoints{}
	for _, endpoint := range endpoints {
		l.LbEndpoints = append(l.LbEndpoints, endpoint.message(e.tls))
	}
	return l
}

// endpointsKey is all that the endpoints of a destination depend on.
type endpointsKey struct {
	destination *destination
	set         *endpointSet
	tls         clientTLS
	confs       *confList
}

// loadAssignment returns the endpoints of a destination.
func (b *Builder) loadAssignment(key endpointsKey, d *resource.Dataplane) *built {
	return b.endpoints.get(key, d, func(client *client) *built {
		name := key.destination.name
		e := &Endpoints{
			report: report{place: name}, client: client, tls: key.tls,
			Destination: key.destination.Destination,
			All:         key.set.list,
			Message:     key.set.assignment(name, key.tls),
		}
		for i, t := range b.shape.endpoints {
			t.Endpoints(e, key.confs.own[i])
		}
		return b.finish(&Part{report: e.report, Origin: OutboundOrigin, Tags: key.destination.Tags,
			Messages: []proto.Message{e.Message}, client: client}, key.confs.finish)
	})
}

// assignment returns the endpoints in one locality.
func (s *endpointSet) assignment(name string, tls clientTLS) *endpointv3.ClusterLoadAssignment {
	m := &endpointv3.ClusterLoadAssignment{ClusterName: name}
	if len(s.list) > 0 {
		e := &Endpoints{tls: tls}
		m.Endpoints = []*endpointv3.LocalityLbEndpoints{e.Locality(s.list)}
	}
	return m
}

// message returns the endpoint with the metadata by which the cluster chooses its
// transport socket.
func (e *Endpoint) message(tls clientTLS) *endpointv3.LbEndpoint {
	m := &endpointv3.LbEndpoint{HostIdentifier: &endpointv3.LbEndpoint_Endpoint{
		Endpoint: &endpointv3.Endpoint{Address: SocketAddress(e.Address, e.Port)},
	}}
	if tls.enabled() && e.SPIFFEID != "" {
		m.Metadata = transportSocketMetadata(e.SPIFFEID)
	}
	return m
}

// SocketAddress returns a TCP address.
func SocketAddress(host string, port uint32) *corev3.Address {
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address: host, PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port},
	}}}
}

// workloadEndpoint returns the endpoint of the workload of an inbound (SPEC 11.2).
func workloadEndpoint(cluster string, in *resource.Inbound) *endpointv3.ClusterLoadAssignment {
	e := &Endpoint{Address: cmp.Or(in.ServiceAddress, "127.0.0.1"), Port: cmp.Or(in.ServicePort, in.Port)}
	return &endpointv3.ClusterLoadAssignment{ClusterName: cluster, Endpoints: []*endpointv3.LocalityLbEndpoints{
		{LbEndpoints: []*endpointv3.LbEndpoint{e.message(clientTLS{})}},
	}}
}
