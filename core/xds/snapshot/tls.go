package snapshot

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds"
)

// serverTLS returns how the inbounds of the dataplane use its identity.
func (sb *snapshotBuilder) serverTLS() serverTLS {
	id := sb.snapshot.Identity
	tls := serverTLS{clientTLS: tlsOf(id, sb.client.Type), identity: id, open: sb.in.open()}
	if id != nil {
		tls.trustDomain = sb.in.clientTrustDomain()
	}
	return tls
}

// clientTLS is the part of the client's identity on which a cluster depends. The zero value
// means that the client has none.
type clientTLS struct {
	// source is where the secrets come from.
	source message.SecretSource
}

func (c clientTLS) enabled() bool { return c.source != message.NoSecrets }

// tlsOf returns how a dataplane uses its identity, which may be nil.
func tlsOf(id *identity.Identity, client xds.ClientType) clientTLS {
	switch {
	case id == nil:
		return clientTLS{}
	case client == xds.ProxylessGRPC:
		return clientTLS{message.GRPCSecrets}
	case id.Source.Spec.Provider.Type == spiffe.Spire:
		return clientTLS{message.SpireSecrets}
	}
	return clientTLS{message.ADSSecrets}
}

// serverTLS is how the inbounds of a dataplane present its identity and verify their
// clients. The zero value is no identity.
type serverTLS struct {
	clientTLS
	identity *identity.Identity
	// trustDomain is the only one whose CAs verify clients; "" if there may be several.
	trustDomain string
	// open reports that no permission is applied to the dataplane (SPEC 17.1).
	open bool
	// redirected reports that connections to the workload are redirected to the proxy.
	redirected bool
	// taken are addresses of the workload at which outbounds listen.
	taken takenAddresses
}

// secure makes a cluster choose the transport socket of each endpoint by the identity that the
// endpoint has (SPEC 11.6). Endpoints without identity get the socket of the cluster, which
// has no TLS. If all endpoints of a destination are called by TLS, there is one socket. There
// is one more if zone proxies have another server name for the destination (SPEC 17.4). GRPC
// has one socket for all endpoints of a cluster, which then is the one for endpoints with
// identity; see grpcEndpoints.
func (c clientTLS) secure(m *clusterv3.Cluster, facts *endpointFacts, protocol message.Protocol) {
	if !c.enabled() {
		return
	}
	if c.source == message.GRPCSecrets {
		if len(facts.ids) > 0 {
			m.TransportSocket = c.socket(protocol, "", facts.ids...)
		}
		return
	}
	match := func(name, serverName string, ids ...string) {
		m.TransportSocketMatches = append(m.TransportSocketMatches, &clusterv3.Cluster_TransportSocketMatch{
			Name: name, Match: message.SocketMatch(name), TransportSocket: c.socket(protocol, serverName, ids...),
		})
	}
	switch {
	case !facts.secured:
		for _, id := range facts.ids {
			match(id, "", id)
		}
	case len(facts.serverNames) == 0:
		m.TransportSocket = c.socket(protocol, "", facts.ids...)
	default:
		m.TransportSocket = c.socket(protocol, facts.serverNames[0], facts.ids...)
		for _, name := range facts.serverNames[1:] {
			match(name, name, facts.ids...)
		}
	}
}

// socketChooser returns the name of the transport socket of an endpoint in its cluster, or ""
// for the socket of the cluster itself.
type socketChooser func(*xds.Endpoint) string

// chooser returns which of the sockets that secure makes an endpoint has.
func (c clientTLS) chooser(facts *endpointFacts) socketChooser {
	return func(e *xds.Endpoint) string {
		switch {
		case !c.enabled() || c.source == message.GRPCSecrets:
			return ""
		case !facts.secured:
			return e.SPIFFEID
		case len(facts.serverNames) > 1 && e.ServerName != facts.serverNames[0]:
			return e.ServerName
		}
		return ""
	}
}

// socket returns the socket of an endpoint that has one of the given SPIFFE IDs. ServerName
// is the SNI, which may be empty. By default Envoy's clients offer at most TLS 1.2, and an
// inbound may require TLS 1.3.
func (c clientTLS) socket(protocol message.Protocol, serverName string, ids ...string) *corev3.TransportSocket {
	common := c.source.CommonTLS(ids...)
	if c.source != message.GRPCSecrets { // gRPC has TLS 1.3 and refuses parameters and other protocols than h2
		common.TlsParams = &tlsv3.TlsParameters{TlsMaximumProtocolVersion: tlsv3.TlsParameters_TLSv1_3}
		common.AlpnProtocols = message.ALPN(protocol)
	}
	return message.TransportSocket(&tlsv3.UpstreamTlsContext{CommonTlsContext: common, Sni: serverName})
}
