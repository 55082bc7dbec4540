package bootstrap

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
)

// GRPCConfig is the bootstrap of a process that uses gRPC instead of Envoy, as client,
// server or both. It is the content of the file that the environment variable
// GRPC_XDS_BOOTSTRAP names.
type GRPCConfig struct {
	Servers []grpcServer `json:"xds_servers"`
	Node    grpcNode     `json:"node"`
	// ServerTemplate is [message.GRPCServerTemplate].
	ServerTemplate string `json:"server_listener_resource_name_template"`
	// CertificateProviders has the provider of the dataplane's certificates; nil if the
	// dataplane has no identity.
	CertificateProviders map[string]grpcProvider `json:"certificate_providers,omitempty"`
}

// A grpcServer is the server from which a process fetches its resources.
type grpcServer struct {
	URI         string         `json:"server_uri"`
	Credentials []grpcProvider `json:"channel_creds"`
	Features    []string       `json:"server_features"`
}

// A grpcNode is the node of a process.
type grpcNode struct {
	ID      string `json:"id"` // the KRI of the dataplane
	Cluster string `json:"cluster"`
}

// A grpcProvider is a type of credentials, or a plugin that provides certificates.
type grpcProvider struct {
	Type   string     `json:"type,omitempty"`
	Plugin string     `json:"plugin_name,omitempty"`
	Config *grpcFiles `json:"config,omitempty"`
}

// grpcFiles are the paths of certificates and keys on the machine of the process.
type grpcFiles struct {
	Certificate string `json:"certificate_file,omitempty"`
	Key         string `json:"private_key_file,omitempty"`
	CA          string `json:"ca_certificate_file,omitempty"`
	Refresh     string `json:"refresh_interval,omitempty"`
}

// ErrGRPCFiles indicates that gRPC cannot get the certificates of an identity, because it
// only reads files.
var ErrGRPCFiles = errors.New("gRPC reads the dataplane's certificates from files, but neither its MeshIdentity nor Server.Certificate names them")

// grpcRefresh is the interval at which gRPC reads the certificate files again.
const grpcRefresh = "60s"

// GRPC returns the bootstrap of a dataplane (SPEC 11.7). The identity is the dataplane's;
// nil if it has none. The certificates are the files of the identity if it is from the
// provider Extension, otherwise the files with which the process connects to the server.
// The error is [ErrGRPCFiles], or is about a path that uses a value that the dataplane does
// not have.
func GRPC(d *resource.Dataplane, id *identity.Identity, server Server) (*GRPCConfig, error) {
	credentials := grpcProvider{Type: "insecure"}
	if server.CA != "" {
		credentials = grpcProvider{Type: "tls", Config: &grpcFiles{Certificate: server.Certificate, Key: server.Key, CA: server.CA}}
	}
	b := &GRPCConfig{
		Servers: []grpcServer{{
			URI:         net.JoinHostPort(server.Host, strconv.Itoa(int(server.Port))),
			Credentials: []grpcProvider{credentials},
			// Without the second one, gRPC takes a name for one that does not exist if there is no
			// answer within 15 s. There is never fail_on_data_errors: a client keeps what it has.
			Features: []string{"xds_v3", "resource_timer_is_transient_error"},
		}},
		Node:           grpcNode{ID: d.KRI(""), Cluster: nodeCluster},
		ServerTemplate: message.GRPCServerTemplate,
	}
	if id == nil {
		return b, nil
	}
	files, err := filesOf(d, id, server)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.KRI(""), err)
	}
	files.Refresh = grpcRefresh
	b.CertificateProviders = map[string]grpcProvider{message.GRPCCertificates: {Plugin: "file_watcher", Config: files}}
	return b, nil
}

// grpcFiles returns the files of an identity.
func filesOf(d *resource.Dataplane, id *identity.Identity, server Server) (*grpcFiles, error) {
	if id.Source.Spec.Provider.Type != spiffe.Extension {
		if server.Certificate == "" {
			return nil, ErrGRPCFiles
		}
		return &grpcFiles{Certificate: server.Certificate, Key: server.Key, CA: server.CA}, nil
	}
	files, err := identity.FilesOf(d, id)
	if err != nil {
		return nil, err
	}
	return &grpcFiles{Certificate: files.Certificate, Key: files.Key, CA: files.TrustBundle}, nil
}
