package xds

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	socketMetadata = "envoy.transport_socket_match"
	spiffeIDKey    = "spiffeId" // of the metadata of an endpoint
)

// secure makes a cluster choose the transport socket of each endpoint by the identity
// that the endpoint has (SPEC 11.6). Endpoints without identity get the socket of the
// cluster, which has no TLS. GRPC has one socket for all endpoints of a cluster, so there
// the endpoints with identity have it; see grpcEndpoints.
func (c clientTLS) secure(m *clusterv3.Cluster, facts *endpointFacts) {
	if !c.enabled() {
		return
	}
	if c.source == grpcSecrets {
		if len(facts.ids) > 0 {
			m.TransportSocket = c.socket(facts.ids...)
		}
		return
	}
	for _, id := range facts.ids {
		m.TransportSocketMatches = append(m.TransportSocketMatches, &clusterv3.Cluster_TransportSocketMatch{
			Name: id, Match: socketMatch(id),
			TransportSocket: c.socket(id),
		})
	}
}

// socket returns the socket of an endpoint that has one of the given SPIFFE IDs.
func (c clientTLS) socket(ids ...string) *corev3.TransportSocket {
	return transportSocket(&tlsv3.UpstreamTlsContext{CommonTlsContext: c.common(ids...)})
}

func socketMatch(spiffeID string) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{spiffeIDKey: structpb.NewStringValue(spiffeID)}}
}

// transportSocketMetadata returns the metadata by which Envoy finds the transport
// socket of an endpoint.
func transportSocketMetadata(spiffeID string) *corev3.Metadata {
	return &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{socketMetadata: socketMatch(spiffeID)}}
}
