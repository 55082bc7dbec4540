package message

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const tlsSocket = "envoy.transport_sockets.tls"

// DownstreamTLS returns the TLS of a listener that presents the dataplane's certificate and
// requires and verifies client certificates; nil without secrets.
func (s SecretSource) DownstreamTLS() *tlsv3.DownstreamTlsContext {
	if s == NoSecrets {
		return nil
	}
	return &tlsv3.DownstreamTlsContext{
		CommonTlsContext:         s.CommonTLS(),
		RequireClientCertificate: wrapperspb.Bool(true),
	}
}

// AcceptName adds a DNS name or IP address to the names; a certificate must have one of them.
func AcceptName(m *tlsv3.CertificateValidationContext, name *matcherv3.StringMatcher) {
	for _, of := range []tlsv3.SubjectAltNameMatcher_SanType{tlsv3.SubjectAltNameMatcher_DNS, tlsv3.SubjectAltNameMatcher_IP_ADDRESS} {
		m.MatchTypedSubjectAltNames = append(m.MatchTypedSubjectAltNames, &tlsv3.SubjectAltNameMatcher{SanType: of, Matcher: name})
	}
}

// AcceptURI adds a URI SAN that is accepted. A peer must present one of those added.
func AcceptURI(validation *tlsv3.CertificateValidationContext, uri *matcherv3.StringMatcher) {
	validation.MatchTypedSubjectAltNames = append(validation.MatchTypedSubjectAltNames, &tlsv3.SubjectAltNameMatcher{
		SanType: tlsv3.SubjectAltNameMatcher_URI, Matcher: uri,
	})
}

// MeshALPN is the protocol that proxies offer first in the handshake with each other. By
// it a TCP inbound in mode Permissive recognizes TLS of the mesh (SPEC 11.5, MeshTLS).
const MeshALPN = "meshmatch"

// ALPN returns the protocols that a proxy offers to an endpoint that speaks p.
func ALPN(p Protocol) []string {
	switch {
	case p.IsHTTP2():
		return []string{MeshALPN, "h2"}
	case p.IsHTTP():
		return []string{MeshALPN, "http/1.1"}
	}
	return []string{MeshALPN}
}

// CommonTLS returns the dataplane's certificate and the verification of peers. A peer must
// have one of the given SPIFFE IDs; if none is given, every verified peer is accepted.
func (s SecretSource) CommonTLS(ids ...string) *tlsv3.CommonTlsContext {
	if s == GRPCSecrets {
		return grpcTLS(ids)
	}
	validation := &tlsv3.CertificateValidationContext{}
	for _, id := range ids {
		AcceptURI(validation, Exactly(id))
	}
	return &tlsv3.CommonTlsContext{
		TlsCertificateSdsSecretConfigs: []*tlsv3.SdsSecretConfig{s.Secret(IdentitySecret)},
		ValidationContextType: &tlsv3.CommonTlsContext_CombinedValidationContext{
			CombinedValidationContext: &tlsv3.CommonTlsContext_CombinedCertificateValidationContext{
				DefaultValidationContext:         validation,
				ValidationContextSdsSecretConfig: s.Secret(TrustSecret),
			},
		},
	}
}

// TransportSocket returns the TLS transport socket with a TLS context as its config.
func TransportSocket(m proto.Message) *corev3.TransportSocket {
	return &corev3.TransportSocket{Name: tlsSocket, ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: Any(m)}}
}

const (
	socketMetadata = "envoy.transport_socket_match"
	spiffeIDKey    = "spiffeId" // in the metadata of an endpoint
)

func SocketMatch(spiffeID string) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{spiffeIDKey: structpb.NewStringValue(spiffeID)}}
}

// TransportSocketMetadata returns the metadata of an endpoint, by which Envoy finds its
// transport socket.
func TransportSocketMetadata(spiffeID string) *corev3.Metadata {
	return &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{socketMetadata: SocketMatch(spiffeID)}}
}
