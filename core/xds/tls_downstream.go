package xds

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/identity"
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

// grpcCertificates is the name of the certificate provider in the bootstrap of a
// gRPC server. gRPC has no SDS.
const grpcCertificates = "default"

// context returns how an inbound presents its identity and verifies clients; nil
// without identity.
func (s serverTLS) context(grpc bool) *tlsv3.DownstreamTlsContext {
	if !s.enabled() {
		return nil
	}
	m := &tlsv3.DownstreamTlsContext{
		CommonTlsContext:         s.common(),
		RequireClientCertificate: wrapperspb.Bool(true),
	}
	if grpc {
		m.CommonTlsContext = &tlsv3.CommonTlsContext{
			TlsCertificateProviderInstance: &tlsv3.CertificateProviderPluginInstance{InstanceName: grpcCertificates},
			ValidationContextType: &tlsv3.CommonTlsContext_ValidationContext{ValidationContext: &tlsv3.CertificateValidationContext{
				CaCertificateProviderInstance: &tlsv3.CertificateProviderPluginInstance{InstanceName: grpcCertificates},
			}},
		}
	}
	return m
}

func transportSocket(m *tlsv3.DownstreamTlsContext) *corev3.TransportSocket {
	return &corev3.TransportSocket{Name: tlsSocket, ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: Any(m)}}
}
