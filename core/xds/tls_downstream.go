package xds

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/identity"
	"github.com/meshmatch/meshmatch/core/xds/message"
)

// serverTLS is how the inbounds of a dataplane present its identity and verify their
// clients. The zero value is no identity.
type serverTLS struct {
	clientTLS
	identity *identity.Identity
	// trustDomain is the one whose CAs alone clients are verified with; "" if there
	// may be several.
	trustDomain string
}

// context returns how an inbound presents its identity and verifies clients; nil
// without identity.
func (s serverTLS) context() *tlsv3.DownstreamTlsContext {
	if !s.enabled() {
		return nil
	}
	return &tlsv3.DownstreamTlsContext{
		CommonTlsContext:         s.common(),
		RequireClientCertificate: wrapperspb.Bool(true),
	}
}

// transportSocket returns the socket of a context of TLS.
func transportSocket(m proto.Message) *corev3.TransportSocket {
	return &corev3.TransportSocket{Name: tlsSocket, ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: message.Any(m)}}
}
