package translators

import (
	"fmt"
	"reflect"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/meshtls"
	"github.com/meshmatch/meshmatch/core/results"
	"github.com/meshmatch/meshmatch/core/xds"
)

// inboundTLS translates MeshTLS: versions and ciphers of inbounds, and a filter chain for
// clients without TLS.
func inboundTLS(i *xds.Inbound, in xds.InboundConf) {
	choices, err := choicesOf(i, in, i.Visibility())
	warnLimit(i, in, err)
	effective := always(choices)
	settings := results.MustConfOf[meshtls.Conf](effective)
	for k := range choices {
		if own := results.MustConfOf[meshtls.Conf](choices[k].Effective); !choices[k].Empty() && !reflect.DeepEqual(own, settings) {
			i.Warn(diag.NoEffectHere, choices[k].Effective, "", "the client is known after the handshake: write it for all clients")
		}
	}
	if settings == nil {
		return
	}
	switch {
	case i.Client == xds.ProxylessGRPC:
		i.Warn(diag.NotInGRPC, effective, "", "a gRPC server accepts TLS with its own settings")
		return
	case i.TLS == nil:
		i.Warn(diag.AbsentDependency, effective, "", "the inbound has no TLS: no MeshIdentity selects the dataplane")
		return
	}
	i.Permissive = valueOr(settings.Mode, meshtls.Strict) == meshtls.Permissive
	parameters := &tlsv3.TlsParameters{}
	if v := settings.TLSVersion; v != nil {
		setVersions(i, effective, v, parameters)
	}
	for _, cipher := range settings.TLSCiphers {
		parameters.CipherSuites = append(parameters.CipherSuites, string(cipher))
	}
	if settings.TLSVersion != nil || len(settings.TLSCiphers) > 0 {
		i.TLS.CommonTlsContext.TlsParams = parameters
	}
	if len(settings.TLSCiphers) > 0 && parameters.TlsMinimumProtocolVersion == tlsv3.TlsParameters_TLSv1_3 {
		i.Warn(diag.NoEffectHere, effective, "/tlsCiphers", "TLS 1.3 has ciphers of its own")
	}
}

// setVersions sets the versions that an inbound accepts. The bounds may come from several
// policies and contradict each other. Envoy would then refuse every client, so the upper bound
// applies (SPEC 11.5).
func setVersions(i *xds.Inbound, e *results.Effective, v *meshtls.Version, m *tlsv3.TlsParameters) {
	least, most := tlsVersions[valueOr(v.Min, meshtls.TLSAuto)], tlsVersions[valueOr(v.Max, meshtls.TLSAuto)]
	if most != tlsv3.TlsParameters_TLS_AUTO {
		if least > most {
			i.Warn(diag.ContradictingValues, e, "/tlsVersion/min", "it is later than max (%s), which applies", *v.Max)
			least = most
		}
		if most < tlsv3.TlsParameters_TLSv1_2 {
			i.Advise(diag.ProxyDiffers, e, "/tlsVersion/max", fmt.Sprintf("every client is refused, as no cipher of %s is accepted; set TLS12", *v.Max))
			least = most // Envoy refuses a maximum below its minimum, which is TLS 1.2
		}
	}
	m.TlsMinimumProtocolVersion, m.TlsMaximumProtocolVersion = least, most
}

// tlsVersions are the versions as Envoy has them.
var tlsVersions = map[meshtls.TLSVersion]tlsv3.TlsParameters_TlsProtocol{
	meshtls.TLSAuto: tlsv3.TlsParameters_TLS_AUTO,
	meshtls.TLS10:   tlsv3.TlsParameters_TLSv1_0,
	meshtls.TLS11:   tlsv3.TlsParameters_TLSv1_1,
	meshtls.TLS12:   tlsv3.TlsParameters_TLSv1_2,
	meshtls.TLS13:   tlsv3.TlsParameters_TLSv1_3,
}
