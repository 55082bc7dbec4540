package snapshot

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// noSecrets is the part of a dataplane whose secrets a server signs, or that has none.
var noSecrets built

// secrets returns the secrets of a dataplane that are known without a server that
// signs: those in files (SPEC 11.6). Its MeshIdentity is of provider Extension.
func (b *Builder) secrets(d *resource.Dataplane, tls serverTLS, trusts []*resource.MeshTrust) (list []*wire.Resource, warnings []xds.Warning) {
	files, err := identity.FilesOf(d, tls.identity)
	if err != nil {
		return nil, []xds.Warning{{Code: diag.AbsentDependency, Place: d.KRI(""), Message: err.Error()}}
	}
	bundles := map[string]*corev3.DataSource{}
	for domain, pem := range identity.TrustBundles(trusts) {
		bundles[domain] = message.Inline(pem)
	}
	own := tls.identity.TrustDomain
	if bundles[own] != nil {
		warnings = append(warnings, xds.Warning{Code: diag.ContradictingValues, Place: d.KRI(""), Message: fmt.Sprintf(
			"the MeshTrusts of the trust domain %s have no effect: %s has its own trustBundle", own, tls.identity.Source.ID)})
	}
	bundles[own] = message.FileSource(files.TrustBundle)
	return []*wire.Resource{
		b.resources.make(wire.SecretType, message.IdentitySecret, &tlsv3.Secret{Name: message.IdentitySecret, Type: &tlsv3.Secret_TlsCertificate{
			TlsCertificate: &tlsv3.TlsCertificate{CertificateChain: message.FileSource(files.Certificate), PrivateKey: message.FileSource(files.Key)},
		}}),
		b.resources.make(wire.SecretType, message.TrustSecret, message.NewTrustSecret(bundles, tls.trustDomain)),
	}, warnings
}
