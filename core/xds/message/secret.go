package message

import (
	"maps"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
)

// The names of the secrets of a dataplane, on each dataplane: what they contain is
// sent to each proxy for itself, so they do not keep clusters from being shared (SPEC
// 11.6).
const (
	IdentitySecret = "identity" // certificate and private key
	TrustSecret    = "trust"    // what certificates of other dataplanes are verified with
)

// SpireCluster is the name of the cluster of the agent of SPIRE, which is a part of
// the bootstrap.
const SpireCluster = "spire_agent"

// The agent of SPIRE answers these names, unless it is configured otherwise: with
// the certificate of the workload, and with the bundles of its trust domain and of
// all that it is federated with, each for its own trust domain.
const (
	spireIdentity = "default"
	spireTrust    = "ALL"
)

// SecretSource is where the proxy of a dataplane gets its secrets.
type SecretSource uint8

const (
	NoSecrets    SecretSource = iota
	ADSSecrets                // from the server of the proxy
	SpireSecrets              // from the agent of SPIRE on the same machine
	GRPCSecrets               // from a certificate provider of gRPC, which has no SDS
)

// secret returns the reference of Envoy to a secret.
func (s SecretSource) secret(name string) *tlsv3.SdsSecretConfig {
	if s != SpireSecrets {
		return &tlsv3.SdsSecretConfig{Name: name, SdsConfig: FromADS()}
	}
	names := map[string]string{IdentitySecret: spireIdentity, TrustSecret: spireTrust}
	return &tlsv3.SdsSecretConfig{Name: names[name], SdsConfig: fromCluster(SpireCluster)}
}

// NewTrustSecret returns the secret `trust` with CA certificates by the trust domain
// that they vouch for; not empty. Only is the one trust domain that is trusted: if it is
// not empty, its CAs verify every certificate, even one without a SPIFFE ID. If it is
// empty, a certificate is verified with the CAs of the trust domain that its first URI
// SAN has, and one without a SPIFFE ID is refused (SPEC 11.6).
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

func FileSource(path string) *corev3.DataSource {
	return &corev3.DataSource{Specifier: &corev3.DataSource_Filename{Filename: path}}
}
