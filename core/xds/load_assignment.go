package xds

import (
	"cmp"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/variant"
)

// Endpoints is the draft of the endpoints of a destination.
type Endpoints struct {
	*report
	*client
	Destination variant.Destination
	// All are the ready endpoints, by address. A translator must not change them.
	All []*Endpoint
	// Localities are the groups that get requests. At first there is one with all
	// endpoints, or none if there are no endpoints.
	Localities []Locality
	// Message gets the endpoints of the localities when the draft is finished.
	Message *endpointv3.ClusterLoadAssignment

	shown []string
}

// A Locality is a group of endpoints.
type Locality struct {
	Zone, SubZone string
	// Priority is 0 for the group that gets requests while its endpoints are healthy,
	// 1 for the next one, without gaps.
	Priority uint32
	// Weight is the share of requests among the groups of one priority: in Envoy if the
	// cluster has weighted localities, in gRPC always. It is not 0.
	Weight    uint32
	Endpoints []*Endpoint
}

// ShowTags makes tags of the endpoints available to the routes of the cluster.
func (e *Endpoints) ShowTags(keys ...string) { e.shown = append(e.shown, keys...) }

// endpointsKey is all that the endpoints of a destination depend on.
type endpointsKey struct {
	destination *destination
	set         *endpointSet
	tls         clientTLS
	grpc        bool
	confs       *confList
}

// loadAssignment returns the endpoints of a destination.
func (b *Builder) loadAssignment(key endpointsKey, d *resource.Dataplane) *built {
	return b.endpoints.get(key, d, func(client *client) *built {
		r := report{place: key.destination.name}
		m := b.assignment(key, &r, client)
		return b.finish(&Part{report: r, Origin: OutboundOrigin, Tags: key.destination.Tags,
			Messages: []proto.Message{m}, client: client, confs: key.confs.all()}, key.confs.finish)
	})
}

// assignment returns the message with the endpoints of a destination.
func (b *Builder) assignment(key endpointsKey, r *report, client *client) *endpointv3.ClusterLoadAssignment {
	e := &Endpoints{
		report: r, client: client,
		Destination: key.destination.Destination,
		All:         key.set.list,
		Message:     &endpointv3.ClusterLoadAssignment{ClusterName: key.destination.name},
	}
	if key.grpc {
		e.All = grpcEndpoints(key.set, key.tls, r.WarnPlace)
	}
	if len(e.All) > 0 {
		e.Localities = []Locality{{Weight: 1, Endpoints: e.All}}
	}
	for i, t := range b.shape.endpoints {
		if t.Outbound == nil { // else the draft of the listener reports it
			r.warnIgnored(t, key.confs.own[i])
		}
		t.Endpoints(e, key.confs.own[i])
	}
	for _, l := range e.Localities {
		e.Message.Endpoints = append(e.Message.Endpoints, l.message(key.tls, e.shown))
	}
	return e.Message
}

func (l *Locality) message(tls clientTLS, shown []string) *endpointv3.LocalityLbEndpoints {
	// gRPC refuses a locality without name, and ignores one without weight.
	m := &endpointv3.LocalityLbEndpoints{
		Priority:            l.Priority,
		Locality:            &corev3.Locality{Zone: l.Zone, SubZone: l.SubZone},
		LoadBalancingWeight: wrapperspb.UInt32(l.Weight),
	}
	for _, e := range l.Endpoints {
		endpoint := e.message(tls)
		e.showTags(endpoint, shown)
		m.LbEndpoints = append(m.LbEndpoints, endpoint)
	}
	return m
}

// showTags puts tags of an endpoint into the metadata that Envoy compares with those
// of routes.
func (e *Endpoint) showTags(m *endpointv3.LbEndpoint, keys []string) {
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
func (e *Endpoint) message(tls clientTLS) *endpointv3.LbEndpoint {
	m := &endpointv3.LbEndpoint{HostIdentifier: &endpointv3.LbEndpoint_Endpoint{
		Endpoint: &endpointv3.Endpoint{Address: SocketAddress(e.Address, e.Port)},
	}}
	if tls.enabled() && tls.source != grpcSecrets && e.SPIFFEID != "" {
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

// workloadAddress returns the address of the workload of an inbound (SPEC 11.2).
func workloadAddress(in *resource.Inbound) *corev3.Address {
	return SocketAddress(cmp.Or(in.ServiceAddress, "127.0.0.1"), cmp.Or(in.ServicePort, in.Port))
}
