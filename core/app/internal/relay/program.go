package relay

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// A program is what a client runs. The relay subscribes as one of its clients would: what the
// upstream serves depends on the type and the version of a client (SPEC 18.4).
type program struct{ userAgent, version string }

func programOf(node *server.Node) program { return program{node.UserAgent, node.Version} }

// client returns what clients with equal resources have in common.
func (p program) client() capability.Client {
	client, _ := capability.ClientBy(p.userAgent, p.version) // the upstream refuses one that is too old
	return client
}

// node returns the node of a stream for such clients.
func (p program) node() *corev3.Node {
	n := &corev3.Node{UserAgentName: p.userAgent}
	if p.version != "" {
		n.UserAgentVersionType = &corev3.Node_UserAgentVersion{UserAgentVersion: p.version}
	}
	return n
}
