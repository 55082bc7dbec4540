package xds

import (
	"fmt"
	"maps"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/meshmatch/meshmatch/core/conf/spiffe"
	"github.com/meshmatch/meshmatch/core/identity"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/wire"
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

// secretSource is where the proxy of a dataplane gets its secrets.
type secretSource uint8

const (
	noSecrets    secretSource = iota
	adsSecrets                // from the server of the proxy
	spireSecrets              // from the agent of SPIRE on the same machine
	grpcSecrets               // from a certificate provider of gRPC, which has no SDS
)

// secret returns the reference of Envoy to a secret.
func (s secretSource) secret(name string) *tlsv3.SdsSecretConfig {
	if s != spireSecrets {
		return &tlsv3.SdsSecretConfig{Name: name, SdsConfig: fromADS()}
	}
	names := map[string]string{IdentitySecret: spireIdentity, TrustSecret: spireTrust}
	return &tlsv3.SdsSecretConfig{Name: names[name], SdsConfig: fromCluster(SpireCluster)}
}

// NewTrustSecret returns the secret `trust` with CA certificates by the trust domain
// that they vouch for; not empty. Only is the trust domain of [Visibility]: if it is
// not empty, its CAs verify every certificate, also one without a SPIFFE ID. If it is
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
			Name: "envoy.tls.cert_validator.spiffe", TypedConfig: message.Any(spiffe),
		}
	}
	return &tlsv3.Secret{Name: TrustSecret, Type: &tlsv3.Secret_ValidationContext{ValidationContext: validation}}
}

// secrets returns the secrets of a dataplane that are known without a server that
// signs: those in files (SPEC 11.6).
func (b *Builder) secrets(d *resource.Dataplane, tls serverTLS, trusts []*resource.MeshTrust) (list []*wire.Resource, warnings []Warning) {
	if tls.identity == nil || tls.identity.Source.Spec.Provider.Type != spiffe.Extension {
		return nil, nil
	}
	files, err := filesOf(d, tls.identity)
	if err != nil {
		return nil, []Warning{{Place: d.KRI(""), Message: err.Error()}}
	}
	bundles := map[string]*corev3.DataSource{}
	for domain, pem := range trustBundles(trusts) {
		bundles[domain] = &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: pem}}
	}
	own := tls.identity.TrustDomain
	if bundles[own] != nil {
		warnings = append(warnings, Warning{Place: d.KRI(""), Message: fmt.Sprintf(
			"the MeshTrusts of the trust domain %s have no effect: %s has its own trustBundle", own, tls.identity.Source.ID)})
	}
	bundles[own] = fileSource(files.trustBundle)
	return []*wire.Resource{
		b.resources.make(wire.SecretType, IdentitySecret, &tlsv3.Secret{Name: IdentitySecret, Type: &tlsv3.Secret_TlsCertificate{
			TlsCertificate: &tlsv3.TlsCertificate{CertificateChain: fileSource(files.certificate), PrivateKey: fileSource(files.key)},
		}}),
		b.resources.make(wire.SecretType, TrustSecret, NewTrustSecret(bundles, tls.trustDomain)),
	}, warnings
}

// identityFiles are the paths of an identity of provider Extension.
type identityFiles struct{ certificate, key, trustBundle string }

// filesOf returns the files of the identity of a dataplane, which is of provider
// Extension. It fails if the dataplane has no value for a part of a path.
func filesOf(d *resource.Dataplane, id *identity.Identity) (files identityFiles, err error) {
	config := id.Source.Spec.Provider.Extension.Config
	if files.certificate, err = identity.Expand(config.Certificate, d); err != nil {
		return files, err
	}
	if files.key, err = identity.Expand(config.PrivateKey, d); err != nil {
		return files, err
	}
	files.trustBundle, err = identity.Expand(config.TrustBundle, d)
	return files, err
}

func fileSource(path string) *corev3.DataSource {
	return &corev3.DataSource{Specifier: &corev3.DataSource_Filename{Filename: path}}
}
