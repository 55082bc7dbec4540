package relay

import (
	"bytes"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The field of metadata by which a server chooses the transport socket of an endpoint (SPEC
// 11.6).
const socketMetadata, socketField = "envoy.transport_socket_match", "spiffeId"

// peersOf returns the peers of a cluster with a transport socket for each identity, or of its
// endpoints. By them a client of a relay gets an endpoint after its cluster, as a client of the
// upstream does (SPEC 12.3). Where one socket accepts several identities, the bytes do not show which endpoint
// has which, and there are no peers.
func (p *pool) peersOf(t wire.Type, name string, text []byte) *wire.Peers {
	if t != wire.ClusterType && t != wire.EndpointType || !bytes.Contains(text, []byte(socketField)) {
		return nil
	}
	var ids []string
	add := func(id string) {
		if id != "" {
			ids = append(ids, id)
		}
	}
	var only func([]string) *wire.Resource
	if t == wire.ClusterType {
		var m clusterv3.Cluster
		if proto.Unmarshal(text, &m) != nil {
			return nil
		}
		for _, match := range m.TransportSocketMatches {
			add(socketOf(match.Match))
		}
	} else {
		var m endpointv3.ClusterLoadAssignment
		if proto.Unmarshal(text, &m) != nil {
			return nil
		}
		for _, l := range m.Endpoints {
			for _, e := range l.LbEndpoints {
				add(socketOfEndpoint(e.Metadata))
			}
		}
		only = func(accepted []string) *wire.Resource { return p.restricted(name, text, accepted) }
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	return wire.NewPeers(slices.Compact(ids), only)
}

// restricted returns the endpoints without a socket of their own and those of the accepted
// sockets, or nil if there are none.
func (p *pool) restricted(name string, text []byte, accepted []string) *wire.Resource {
	m, kept := new(endpointv3.ClusterLoadAssignment), 0
	if proto.Unmarshal(text, m) != nil {
		return nil
	}
	for _, l := range m.Endpoints {
		l.LbEndpoints = slices.DeleteFunc(l.LbEndpoints, func(e *endpointv3.LbEndpoint) bool {
			id := socketOfEndpoint(e.Metadata)
			return id != "" && !slices.Contains(accepted, id)
		})
		kept += len(l.LbEndpoints)
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil || kept == 0 {
		return nil
	}
	return p.resource(wire.EndpointType, name, body)
}

func socketOf(match *structpb.Struct) string { return match.GetFields()[socketField].GetStringValue() }

func socketOfEndpoint(m *corev3.Metadata) string {
	return socketOf(m.GetFilterMetadata()[socketMetadata])
}
