package message

import (
	"maps"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
)

// The names of the secrets of a dataplane. All dataplanes use the same names, and each
// proxy gets its own contents, so dataplanes can share a cluster that refers to them (SPEC
// 11.6).
const (
	IdentitySecret = "identity" // certificate and private key
	TrustSecret    = "trust"    // CAs that verify the certificates of other dataplanes
)

const externalKeys = "external/"

// ExternalKey returns the name of the secret with the certificate and key that proxies present
// to the MeshExternalService with a KRI. A proxy gets it if one of its clusters uses it.
func ExternalKey(kri string) string { return externalKeys + kri + "/key" }

// IsExternalKey reports whether a secret has a name by [ExternalKey].
func IsExternalKey(secret string) bool { return strings.HasPrefix(secret, externalKeys) }

// SpireCluster is the name of the cluster for the SPIRE agent, which is in the bootstrap.
const SpireCluster = "spire_agent"

// The secrets that the SPIRE agent serves under its default names: the certificate of the
// workload, and the bundles of its own and of all federated trust domains. Each bundle
// vouches for its own trust domain only.
const (
	spireIdentity = "default"
	spireTrust    = "ALL"
)

// SecretSource is the source from which the proxy of a dataplane gets its secrets.
type SecretSource uint8

const (
	NoSecrets    SecretSource = iota
	ADSSecrets                // from the proxy's xDS server
	SpireSecrets              // from the SPIRE agent on the same machine
	GRPCSecrets               // from a certificate provider, because gRPC has no SDS
)

// Secret returns the message by which Envoy refers to a secret.
func (s SecretSource) Secret(name string) *tlsv3.SdsSecretConfig {
	if s != SpireSecrets {
		return &tlsv3.SdsSecretConfig{Name: name, SdsConfig: FromADS()}
	}
	names := map[string]string{IdentitySecret: spireIdentity, TrustSecret: spireTrust}
	return &tlsv3.SdsSecretConfig{Name: names[name], SdsConfig: fromCluster(SpireCluster)}
}

// NewTrustSecret returns the secret `trust`. Bundles has the CA certificates of each trust
// domain, and at least one. If only is not empty, it is the one trust domain that is
// trusted: its CAs verify every certificate, even one without a SPIFFE ID. If it is empty,
// the trust domain in the first URI SAN of a certificate selects the CAs that verify it. A
// certificate without a SPIFFE ID is refused (SPEC 11.6).
func NewTrustSecret(bundles map[string]*corev3.DataSource, only string) *tlsv3.Secret {
	validation := &tlsv3.CertificateValidationContext{}
	if only != "" {
		validation.TrustedCa = bundles[only]
	} else {
		spiffe := &tlsv3.SPIFFECertValidatorConfig{}
		for _, domain := range slices.Sorted(maps.Keys(bundles)) {
			spiffe.TrustDomains = append(spiffe.TrustDomains, &tlsv3.SPIFFECertValidatorConfig_TrustDomain{
				Name: domain, TrustBundle: bundles[domain],
			})
		}
		validation.CustomValidatorConfig = &corev3.TypedExtensionConfig{
			Name: "envoy.tls.cert_validator.spiffe", TypedConfig: Any(spiffe),
		}
	}
	return &tlsv3.Secret{Name: TrustSecret, Type: &tlsv3.Secret_ValidationContext{ValidationContext: validation}}
}

// Inline returns a text as the content of a message.
func Inline(text string) *corev3.DataSource {
	return &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: text}}
}

func FileSource(path string) *corev3.DataSource {
	return &corev3.DataSource{Specifier: &corev3.DataSource_Filename{Filename: path}}
}
