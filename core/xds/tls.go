package xds

import (
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/identity"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The names of the secrets of a dataplane, on each dataplane: what they contain is
// sent to each proxy for itself, so they do not keep clusters from being shared (SPEC
// 11.6).
const (
	IdentitySecret = "identity" // certificate and private key
	TrustSecret    = "trust"    // what certificates of other dataplanes are verified with
)

const (
	tlsSocket      = "envoy.transport_sockets.tls"
	socketMetadata = "envoy.transport_socket_match"
	spiffeIDKey    = "spiffeId" // of the metadata of an endpoint
)

// clientTLS is what a cluster depends on, of all that the identity of the client's
// dataplane is. The zero value is no identity.
type clientTLS struct {
	// source is where the secrets come from.
	source secretSource
}

// secretSource is where Envoy gets the secrets of a dataplane.
type secretSource uint8

const (
	noSecrets   secretSource = iota
	adsSecrets               // from the server of the proxy
	spireSecret              // from the agent of SPIRE on the same machine
)

// serverTLS is the same for inbounds.
type serverTLS = clientTLS

func (c clientTLS) enabled() bool { return c.source != noSecrets }

// tlsOf returns how a dataplane uses its identity, which may be nil.
func tlsOf(id *identity.Identity) clientTLS {
	switch {
	case id == nil:
		return clientTLS{}
	case id.Source.Spec.Provider.Type == resource.Spire:
		return clientTLS{spireSecret}
	}
	return clientTLS{adsSecrets}
}

// config returns the source of secrets for Envoy.
func (s secretSource) config() *corev3.ConfigSource {
	if s == spireSecret {
		return fromCluster(SpireCluster)
	}
	return fromADS()
}

// SpireCluster is the name of the cluster of the agent of SPIRE, which is a part of
// the bootstrap.
const SpireCluster = "spire_agent"

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

// common returns the certificate and the verification of peers, of which one of the
// given SPIFFE IDs is required; none: any.
func (c clientTLS) common(ids ...string) *tlsv3.CommonTlsContext {
	validation := &tlsv3.CertificateValidationContext{}
	for _, id := range ids {
		validation.MatchTypedSubjectAltNames = append(validation.MatchTypedSubjectAltNames, &tlsv3.SubjectAltNameMatcher{
			SanType: tlsv3.SubjectAltNameMatcher_URI,
			Matcher: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: id}},
		})
	}
	return &tlsv3.CommonTlsContext{
		TlsCertificateSdsSecretConfigs: []*tlsv3.SdsSecretConfig{{Name: IdentitySecret, SdsConfig: c.source.config()}},
		ValidationContextType: &tlsv3.CommonTlsContext_CombinedValidationContext{
			CombinedValidationContext: &tlsv3.CommonTlsContext_CombinedCertificateValidationContext{
				DefaultValidationContext:         validation,
				ValidationContextSdsSecretConfig: &tlsv3.SdsSecretConfig{Name: TrustSecret, SdsConfig: c.source.config()},
			},
		},
	}
}

// context returns how an inbound presents its identity and verifies clients; nil
// without identity.
func (c clientTLS) context() *tlsv3.DownstreamTlsContext {
	if !c.enabled() {
		return nil
	}
	return &tlsv3.DownstreamTlsContext{
		CommonTlsContext:         c.common(),
		RequireClientCertificate: wrapperspb.Bool(true),
	}
}

// secure makes a cluster choose the transport socket of each endpoint by the identity
// that the endpoint has (SPEC 11.6).
func (c clientTLS) secure(m *clusterv3.Cluster, facts *endpointFacts) {
	if !c.enabled() {
		return
	}
	for _, id := range facts.ids {
		m.TransportSocketMatches = append(m.TransportSocketMatches, &clusterv3.Cluster_TransportSocketMatch{
			Name: id, Match: socketMatch(id),
			TransportSocket: &corev3.TransportSocket{
				Name:       tlsSocket,
				ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: Any(&tlsv3.UpstreamTlsContext{CommonTlsContext: c.common(id)})},
			},
		})
	}
}

func transportSocket(m *tlsv3.DownstreamTlsContext) *corev3.TransportSocket {
	return &corev3.TransportSocket{Name: tlsSocket, ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: Any(m)}}
}

func socketMatch(spiffeID string) *structpb.Struct {
	return &structpb.Struct{Fields: map[string]*structpb.Value{spiffeIDKey: structpb.NewStringValue(spiffeID)}}
}

// transportSocketMetadata returns the metadata by which Envoy finds the transport
// socket of an endpoint.
func transportSocketMetadata(spiffeID string) *corev3.Metadata {
	return &corev3.Metadata{FilterMetadata: map[string]*structpb.Struct{socketMetadata: socketMatch(spiffeID)}}
}

// secrets returns the secrets of a dataplane that are known without a server that
// signs: those in files (SPEC 11.6).
func (b *Builder) secrets(d *resource.Dataplane, id *identity.Identity) (list []*Resource, warnings []Warning) {
	if id == nil || id.Source.Spec.Provider.Extension == nil {
		return nil, nil
	}
	files := id.Source.Spec.Provider.Extension.Config
	certificate, err1 := identity.Expand(files.Certificate, d)
	key, err2 := identity.Expand(files.PrivateKey, d)
	bundle, err3 := identity.Expand(files.TrustBundle, d)
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return nil, []Warning{{Place: d.KRI(""), Message: err.Error()}}
		}
	}
	return []*Resource{
		b.resources.make(SecretType, IdentitySecret, &tlsv3.Secret{Name: IdentitySecret, Type: &tlsv3.Secret_TlsCertificate{
			TlsCertificate: &tlsv3.TlsCertificate{CertificateChain: fileSource(certificate), PrivateKey: fileSource(key)},
		}}),
		b.resources.make(SecretType, TrustSecret, &tlsv3.Secret{Name: TrustSecret, Type: &tlsv3.Secret_ValidationContext{
			ValidationContext: &tlsv3.CertificateValidationContext{TrustedCa: fileSource(bundle)},
		}}),
	}, nil
}

func fileSource(path string) *corev3.DataSource {
	return &corev3.DataSource{Specifier: &corev3.DataSource_Filename{Filename: path}}
}
