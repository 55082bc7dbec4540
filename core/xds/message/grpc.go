package message

import (
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// GRPCCertificates is the name of the certificate provider in a bootstrap of gRPC. It
// provides the certificate of the dataplane and the CAs that peers are verified with.
const GRPCCertificates = "default"

// grpcTLS returns the certificate and the verification of peers in the form of gRPC. A
// peer must have one of the given SPIFFE IDs; none: any.
func grpcTLS(ids []string) *tlsv3.CommonTlsContext {
	provider := &tlsv3.CertificateProviderPluginInstance{InstanceName: GRPCCertificates}
	validation := &tlsv3.CertificateValidationContext{CaCertificateProviderInstance: provider}
	for _, id := range ids {
		//lint:ignore SA1019 gRPC ignores the field that replaces this one.
		validation.MatchSubjectAltNames = append(validation.MatchSubjectAltNames, &matcherv3.StringMatcher{
			MatchPattern: &matcherv3.StringMatcher_Exact{Exact: id},
		})
	}
	return &tlsv3.CommonTlsContext{
		TlsCertificateProviderInstance: provider,
		ValidationContextType:          &tlsv3.CommonTlsContext_ValidationContext{ValidationContext: validation},
	}
}

// GRPCServerTemplate is the `server_listener_resource_name_template` of a bootstrap of
// gRPC: a server replaces %s by the address that it listens on.
const GRPCServerTemplate = "inbound/%s"
