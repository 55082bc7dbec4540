package xds

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/meshmatch/meshmatch/core/conf/spiffe"
	"github.com/meshmatch/meshmatch/core/identity"
	"github.com/meshmatch/meshmatch/core/resource"
)

// GRPCBootstrap is the bootstrap of a process that is gRPC instead of Envoy, as client, as
// server or as both. It is the file that the environment variable GRPC_XDS_BOOTSTRAP
// names.
type GRPCBootstrap struct {
	Servers []GRPCServer `json:"xds_servers"`
	Node    GRPCNode     `json:"node"`
	// ServerTemplate is [GRPCServerTemplate].
	ServerTemplate string `json:"server_listener_resource_name_template"`
	// CertificateProviders has the certificates of the dataplane; nil if it has no
	// identity.
	CertificateProviders map[string]GRPCProvider `json:"certificate_providers,omitempty"`
}

// A GRPCServer is the server that a process has its resources from.
type GRPCServer struct {
	URI         string         `json:"server_uri"`
	Credentials []GRPCProvider `json:"channel_creds"`
	Features    []string       `json:"server_features"`
}

// A GRPCNode is the node of a process.
type GRPCNode struct {
	ID      string `json:"id"` // the KRI of the dataplane
	Cluster string `json:"cluster"`
}

// A GRPCProvider is a type of credentials, or a plugin that provides certificates.
type GRPCProvider struct {
	Type   string     `json:"type,omitempty"`
	Plugin string     `json:"plugin_name,omitempty"`
	Config *GRPCFiles `json:"config,omitempty"`
}

// GRPCFiles are the paths of certificates on the machine of the process.
type GRPCFiles struct {
	Certificate string `json:"certificate_file,omitempty"`
	Key         string `json:"private_key_file,omitempty"`
	CA          string `json:"ca_certificate_file,omitempty"`
	Refresh     string `json:"refresh_interval,omitempty"`
}

// ErrGRPCFiles indicates that gRPC cannot fetch the certificates of an identity: it reads
// files only.
var ErrGRPCFiles = errors.New("gRPC reads the certificates of the dataplane from files, and its MeshIdentity has none: give --xds-ca, --xds-cert and --xds-key")

// grpcRefresh is how often gRPC reads the files of certificates.
const grpcRefresh = "60s"

// NewGRPCBootstrap returns the bootstrap of a dataplane (SPEC 11.7). The identity is that
// of the dataplane, or nil. Where it is of provider Extension the certificates are its
// files, else those that the server is asked with. The error is [ErrGRPCFiles], or is
// about a path that the dataplane has no value for.
func NewGRPCBootstrap(d *resource.Dataplane, id *identity.Identity, server Server) (*GRPCBootstrap, error) {
	credentials := GRPCProvider{Type: "insecure"}
	if server.CA != "" {
		credentials = GRPCProvider{Type: "tls", Config: &GRPCFiles{Certificate: server.Certificate, Key: server.Key, CA: server.CA}}
	}
	b := &GRPCBootstrap{
		Servers: []GRPCServer{{
			URI:         net.JoinHostPort(server.Host, strconv.Itoa(int(server.Port))),
			Credentials: []GRPCProvider{credentials},
			Features:    []string{"xds_v3"},
		}},
		Node:           GRPCNode{ID: d.KRI(""), Cluster: nodeCluster},
		ServerTemplate: GRPCServerTemplate,
	}
	if id == nil {
		return b, nil
	}
	files, err := grpcFiles(d, id, server)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.KRI(""), err)
	}
	files.Refresh = grpcRefresh
	b.CertificateProviders = map[string]GRPCProvider{grpcCertificates: {Plugin: "file_watcher", Config: files}}
	return b, nil
}

// grpcFiles returns the files of an identity.
func grpcFiles(d *resource.Dataplane, id *identity.Identity, server Server) (*GRPCFiles, error) {
	if id.Source.Spec.Provider.Type != spiffe.Extension {
		if server.Certificate == "" {
			return nil, ErrGRPCFiles
		}
		return &GRPCFiles{Certificate: server.Certificate, Key: server.Key, CA: server.CA}, nil
	}
	files, err := FilesOf(d, id)
	if err != nil {
		return nil, err
	}
	return &GRPCFiles{Certificate: files.Certificate, Key: files.Key, CA: files.TrustBundle}, nil
}
