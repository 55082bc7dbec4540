package bootstrap

import (
	"cmp"
	"errors"
	"net/netip"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/identity"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/resource"
)

// nodeCluster is the cluster name of all nodes.
const nodeCluster = "meshmatch"

// ErrBundled indicates that a static bootstrap cannot contain the certificates of an
// identity from the provider Bundled.
var ErrBundled = errors.New("the server signs the certificates of provider Bundled, so the proxy needs a bootstrap that names the server")

// Options are the options of Envoy's bootstraps.
type Options struct {
	// Admin is the address of the admin interface; the zero value: there is none, and MeshMetric
	// has no metrics of the proxy.
	Admin netip.AddrPort
	// SpireSocket is the path of the SPIRE agent's socket, for an identity from the
	// provider Spire. If it is empty, [DefaultSpireSocket] is used.
	SpireSocket string
	// Drain is the drain time that the proxy is started with, which the server reads from the
	// node's metadata; nil: the proxy has Envoy's default.
	Drain *time.Duration
}

// DefaultSpireSocket is the path that SPIRE's documentation uses.
const DefaultSpireSocket = "/run/spire/sockets/agent.sock"

// newBootstrap returns a bootstrap with the admin interface and its cluster, which has no
// endpoint without the interface. If the identity is from SPIRE, it also has the cluster of the agent. The identity may be nil.
func newBootstrap(d *resource.Dataplane, id *identity.Identity, o Options) *bootstrapv3.Bootstrap {
	b := &bootstrapv3.Bootstrap{Node: &corev3.Node{Id: d.KRI(""), Cluster: nodeCluster}}
	admin := message.NewStaticCluster(message.AdminCluster, nil, message.OutboundConnectTimeout)
	if o.Admin.IsValid() {
		address := message.SocketAddress(o.Admin.Addr().String(), uint32(o.Admin.Port()))
		b.Admin = &bootstrapv3.Admin{Address: address}
		admin = message.NewStaticCluster(message.AdminCluster, address, message.OutboundConnectTimeout)
	}
	clusters := []*clusterv3.Cluster{admin}
	if id != nil && id.Source.Spec.Provider.Type == spiffe.Spire {
		clusters = append(clusters, spireCluster(id.Source.Spec.Provider.Spire, o.SpireSocket))
	}
	b.StaticResources = &bootstrapv3.Bootstrap_StaticResources{Clusters: clusters}
	return b
}

// spireTimeout is how long the SPIRE agent may take to accept a connection, unless the
// MeshIdentity sets another value.
const spireTimeout = time.Second

func spireCluster(provider *spiffe.SpireProvider, socket string) *clusterv3.Cluster {
	timeout := spireTimeout
	if provider != nil && provider.Agent != nil && provider.Agent.Timeout != nil {
		timeout = time.Duration(*provider.Agent.Timeout)
	}
	c := message.NewStaticCluster(message.SpireCluster, &corev3.Address{
		Address: &corev3.Address_Pipe{Pipe: &corev3.Pipe{Path: cmp.Or(socket, DefaultSpireSocket)}},
	}, timeout)
	message.SetHTTPOptions(c, message.NewHTTPOptions(message.GRPC, 0))
	return c
}
