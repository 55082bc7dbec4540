package snapshot

import (
	"cmp"
	"encoding/pem"
	"net/netip"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	destinations "github.com/meshmatch/meshmatch/core/internal/destination"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// external is how proxies connect to a MeshExternalService (SPEC 17.4).
type external struct {
	endpoints *endpointSet
	closed    *endpointSet // without endpoints, for a mesh in which no proxy connects to it
	// socket is the TLS socket of all endpoints; nil: they are called in plain text.
	socket *corev3.TransportSocket
	// key is the secret with the certificate that the proxy presents; nil: it presents none.
	key *wire.Resource
	// secrets are those that the socket was made with. They identify it, so they are kept.
	secrets []*resource.ObjectOf[specs.Secret]
}

// newExternal returns how proxies connect to a service. Set has the Secrets of its mesh.
func newExternal(b *Builder, set *destinations.Directory, s *resource.MeshExternalService) *external {
	protocol := message.ProtocolOf(s.Ports()[0].Protocol)
	of := func(list []*xds.Endpoint) *endpointSet {
		facts := collectFacts(list)
		facts.protocol, facts.onlyTCP, facts.ownTLS = protocol, false, s.UsesTLS()
		return &endpointSet{list: list, facts: facts.shared(&b.facts)}
	}
	x := &external{closed: of(nil), secrets: set.Secrets(s)}
	x.endpoints = x.closed
	if path, _ := set.Unreachable(s); path != "" {
		return x
	}
	var list []*xds.Endpoint
	for i := range s.Spec.Endpoints {
		e := &s.Spec.Endpoints[i]
		list = append(list, &xds.Endpoint{Address: strings.TrimSuffix(e.Address, "."), Port: e.Port, Protocol: protocol, Priority: e.Priority})
	}
	slices.SortStableFunc(list, func(a, b *xds.Endpoint) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), compareEndpoints(a, b))
	})
	x.endpoints = of(list)
	if s.UsesTLS() {
		x.socket = message.TransportSocket(externalTLS(set, s, protocol))
		if v := s.Verification(); v.PresentsClientCert() {
			name := message.ExternalKey(s.KRI(""))
			x.key = b.resources.make(wire.SecretType, name, &tlsv3.Secret{Name: name, Type: &tlsv3.Secret_TlsCertificate{
				TlsCertificate: &tlsv3.TlsCertificate{CertificateChain: inline(set, s, v.ClientCert), PrivateKey: inline(set, s, v.ClientKey)},
			}})
		}
	}
	return x
}

// priorities returns the endpoints of an external service in localities, one for each
// priority. The priorities of localities have no gaps.
func priorities(list []*xds.Endpoint) (localities []xds.Locality) {
	for i, e := range list {
		if i == 0 || list[i-1].Priority != e.Priority {
			localities = append(localities, xds.Locality{Priority: uint32(len(localities)), Weight: 1})
		}
		last := &localities[len(localities)-1]
		last.Endpoints = append(last.Endpoints, e)
	}
	return localities
}

// externalTLS returns how proxies connect to a service by TLS and verify its certificate.
func externalTLS(set *destinations.Directory, s *resource.MeshExternalService, protocol message.Protocol) *tlsv3.UpstreamTlsContext {
	v := s.Verification()
	first := ""
	if len(s.Spec.Endpoints) > 0 {
		first = strings.TrimSuffix(s.Spec.Endpoints[0].Address, ".")
	}
	m := &tlsv3.UpstreamTlsContext{
		AllowRenegotiation: s.Spec.TLS.AllowRenegotiation,
		CommonTlsContext:   &tlsv3.CommonTlsContext{TlsParams: versionsOf(s.Spec.TLS.Version)},
	}
	if _, err := netip.ParseAddr(first); err != nil {
		m.Sni = first
	}
	if v.UsesServerName() {
		m.Sni = v.ServerName
	}
	switch {
	case protocol.IsHTTP2():
		m.CommonTlsContext.AlpnProtocols = []string{"h2"}
	case protocol.IsHTTP():
		m.CommonTlsContext.AlpnProtocols = []string{"http/1.1"}
	}
	if v.PresentsClientCert() {
		m.CommonTlsContext.TlsCertificateSdsSecretConfigs = []*tlsv3.SdsSecretConfig{message.ADSSecrets.Secret(message.ExternalKey(s.KRI("")))}
	}
	if !v.ChecksCA() {
		return m
	}
	validation := &tlsv3.CertificateValidationContext{TrustedCa: message.FileSource(message.SystemCAs)}
	if v.CACert != nil {
		text, _ := set.PEM(s, v.CACert)
		validation.TrustedCa = message.Inline(certificatesOf(text))
	}
	if v.ChecksNames() {
		message.AcceptName(validation, message.Exactly(cmp.Or(m.Sni, first)))
		for _, name := range v.SubjectAltNames {
			message.AcceptName(validation, nameMatcher(name))
		}
	}
	m.CommonTlsContext.ValidationContextType = &tlsv3.CommonTlsContext_ValidationContext{ValidationContext: validation}
	return m
}

func nameMatcher(name specs.SubjectAltName) *matcherv3.StringMatcher {
	if name.Type == specs.PrefixName {
		return message.Prefix(name.Value)
	}
	return message.Exactly(name.Value)
}

// inline returns a certificate or key of a service that is reachable.
func inline(set *destinations.Directory, s *resource.MeshExternalService, c *specs.Certificate) *corev3.DataSource {
	text, _ := set.PEM(s, c)
	return message.Inline(text)
}

// certificatesOf returns the certificates of a text in PEM, without anything else. The text may have a
// key beside the certificate, and clusters pass relays and are on their disks.
func certificatesOf(text string) string {
	var b strings.Builder
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return b.String()
		}
		if block.Type == "CERTIFICATE" && len(block.Headers) == 0 {
			b.Write(pem.EncodeToMemory(block))
		}
	}
}

// versionsOf returns a range of versions, which may be nil. By default Envoy's clients
// offer only TLS 1.2, and refuse a range whose lower bound is above it.
func versionsOf(v *specs.TLSVersions) *tlsv3.TlsParameters {
	m := &tlsv3.TlsParameters{TlsMaximumProtocolVersion: tlsv3.TlsParameters_TLSv1_3}
	if v == nil {
		return m
	}
	m.TlsMinimumProtocolVersion = tlsVersions[v.Min]
	if most := tlsVersions[v.Max]; most != tlsv3.TlsParameters_TLS_AUTO {
		m.TlsMaximumProtocolVersion = most
	}
	if m.TlsMinimumProtocolVersion == tlsv3.TlsParameters_TLS_AUTO && m.TlsMaximumProtocolVersion < tlsv3.TlsParameters_TLSv1_2 {
		m.TlsMinimumProtocolVersion = m.TlsMaximumProtocolVersion
	}
	return m
}

var tlsVersions = map[specs.TLSVersion]tlsv3.TlsParameters_TlsProtocol{
	specs.TLS10: tlsv3.TlsParameters_TLSv1_0,
	specs.TLS11: tlsv3.TlsParameters_TLSv1_1,
	specs.TLS12: tlsv3.TlsParameters_TLSv1_2,
	specs.TLS13: tlsv3.TlsParameters_TLSv1_3,
}
