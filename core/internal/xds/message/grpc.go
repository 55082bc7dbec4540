package message

import (
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
)

// GRPCCertificates is the name of the certificate provider in a gRPC bootstrap. It
// provides the certificate of the dataplane and the CAs that verify peers.
const GRPCCertificates = "default"

// grpcTLS is [SecretSource.CommonTLS] in the form that gRPC reads.
func grpcTLS(ids []string) *tlsv3.CommonTlsContext {
	provider := &tlsv3.CertificateProviderPluginInstance{InstanceName: GRPCCertificates}
	validation := &tlsv3.CertificateValidationContext{CaCertificateProviderInstance: provider}
	for _, id := range ids {
		//lint:ignore SA1019 gRPC ignores the field that replaces this one.
		validation.MatchSubjectAltNames = append(validation.MatchSubjectAltNames, Exactly(id))
	}
	return &tlsv3.CommonTlsContext{
		TlsCertificateProviderInstance: provider,
		ValidationContextType:          &tlsv3.CommonTlsContext_ValidationContext{ValidationContext: validation},
	}
}

// GRPCServerTemplate is the `server_listener_resource_name_template` of a gRPC bootstrap.
// A gRPC server replaces %s with the address that it listens on.
const GRPCServerTemplate = "inbound/%s"
