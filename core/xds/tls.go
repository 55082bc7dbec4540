package xds

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshmatch/meshmatch/core/conf/spiffe"
	"github.com/meshmatch/meshmatch/core/identity"
)

const tlsSocket = "envoy.transport_sockets.tls"

// clientTLS is what a cluster depends on, of all that the identity of the client's
// dataplane is. The zero value is no identity.
type clientTLS struct {
	// source is where the secrets come from.
	source secretSource
}

func (c clientTLS) enabled() bool { return c.source != noSecrets }

// tlsOf returns how a dataplane, or one that is gRPC instead of Envoy, uses its
// identity, which may be nil.
func tlsOf(id *identity.Identity, grpc bool) clientTLS {
	switch {
	case id == nil:
		return clientTLS{}
	case grpc:
		return clientTLS{grpcSecrets}
	case id.Source.Spec.Provider.Type == spiffe.Spire:
		return clientTLS{spireSecrets}
	}
	return clientTLS{adsSecrets}
}

// common returns the certificate and the verification of peers, of which one of the
// given SPIFFE IDs is required; none: any.
func (c clientTLS) common(ids ...string) *tlsv3.CommonTlsContext {
	if c.source == grpcSecrets {
		return grpcTLS(ids)
	}
	validation := &tlsv3.CertificateValidationContext{}
	for _, id := range ids {
		acceptURI(validation, &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: id}})
	}
	return &tlsv3.CommonTlsContext{
		TlsCertificateSdsSecretConfigs: []*tlsv3.SdsSecretConfig{c.source.secret(IdentitySecret)},
		ValidationContextType: &tlsv3.CommonTlsContext_CombinedValidationContext{
			CombinedValidationContext: &tlsv3.CommonTlsContext_CombinedCertificateValidationContext{
				DefaultValidationContext:         validation,
				ValidationContextSdsSecretConfig: c.source.secret(TrustSecret),
			},
		},
	}
}

// acceptURI adds a URI SAN to those of which a peer needs one.
func acceptURI(validation *tlsv3.CertificateValidationContext, uri *matcherv3.StringMatcher) {
	validation.MatchTypedSubjectAltNames = append(validation.MatchTypedSubjectAltNames, &tlsv3.SubjectAltNameMatcher{
		SanType: tlsv3.SubjectAltNameMatcher_URI, Matcher: uri,
	})
}

func fromCluster(name string) *corev3.ConfigSource {
	return &corev3.ConfigSource{
		ResourceApiVersion: corev3.ApiVersion_V3,
		ConfigSourceSpecifier: &corev3.ConfigSource_ApiConfigSource{ApiConfigSource: &corev3.ApiConfigSource{
			ApiType: corev3.ApiConfigSource_GRPC, TransportApiVersion: corev3.ApiVersion_V3,
			GrpcServices: []*corev3.GrpcService{{TargetSpecifier: &corev3.GrpcService_EnvoyGrpc_{
				EnvoyGrpc: &corev3.GrpcService_EnvoyGrpc{ClusterName: name},
			}}},
		}},
	}
}
