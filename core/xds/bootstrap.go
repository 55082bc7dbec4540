package xds

import (
	"fmt"
	"net/netip"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// AdminCluster is the name of the cluster of the proxy's own admin interface, which
// is a part of each bootstrap.
const AdminCluster = "admin"

// StaticBootstrap returns a bootstrap with all resources of a snapshot inside, which
// Envoy runs without a server (SPEC 11.7).
func StaticBootstrap(s *Snapshot, admin netip.AddrPort) (*bootstrapv3.Bootstrap, error) {
	b := newBootstrap(s.Dataplane.KRI(""), admin)
	static := b.StaticResources
	routes := map[string]*routev3.RouteConfiguration{}
	assignments := map[string]*endpointv3.ClusterLoadAssignment{}
	for t := range Type(NumTypes) {
		for _, r := range s.Resources(t) {
			m, err := r.Message()
			if err != nil {
				return nil, err
			}
			switch m := m.(type) {
			case *routev3.RouteConfiguration:
				// Routes of a server may refer to clusters that do not exist.
				m.ValidateClusters = wrapperspb.Bool(false)
				routes[m.Name] = m
			case *endpointv3.ClusterLoadAssignment:
				assignments[m.ClusterName] = m
			case *clusterv3.Cluster:
				static.Clusters = append(static.Clusters, m)
			case *listenerv3.Listener:
				static.Listeners = append(static.Listeners, m)
			case *tlsv3.Secret:
				static.Secrets = append(static.Secrets, m)
			}
		}
	}
	for _, c := range static.Clusters {
		inlineEndpoints(c, assignments)
		for _, match := range c.TransportSocketMatches {
			if err := inlineSecrets(match.TransportSocket); err != nil {
				return nil, err
			}
		}
	}
	for _, l := range static.Listeners {
		for _, chain := range l.FilterChains {
			if err := inlineChain(chain, routes); err != nil {
				return nil, fmt.Errorf("listener %s: %w", l.Name, err)
			}
		}
	}
	return b, nil
}

// inlineEndpoints puts the endpoints of a cluster into it.
func inlineEndpoints(c *clusterv3.Cluster, assignments map[string]*endpointv3.ClusterLoadAssignment) {
	if c.EdsClusterConfig == nil {
		return
	}
	c.EdsClusterConfig = nil
	c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC}
	c.LoadAssignment = assignments[c.Name]
}

// inlineChain puts the routes of a filter chain into it, and refers to secrets of the
// bootstrap.
func inlineChain(chain *listenerv3.FilterChain, routes map[string]*routev3.RouteConfiguration) error {
	if err := inlineSecrets(chain.TransportSocket); err != nil {
		return err
	}
	for _, f := range chain.Filters {
		manager := &hcmv3.HttpConnectionManager{}
		if !f.GetTypedConfig().MessageIs(manager) {
			continue
		}
		if err := f.GetTypedConfig().UnmarshalTo(manager); err != nil {
			return err
		}
		if rds := manager.GetRds(); rds != nil {
			manager.RouteSpecifier = &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: routes[rds.RouteConfigName]}
			f.ConfigType = &listenerv3.Filter_TypedConfig{TypedConfig: Any(manager)}
		}
	}
	return nil
}

// inlineSecrets makes a transport socket, which may be nil, use secrets of the
// bootstrap in place of those of the server. Secrets of other sources stay.
func inlineSecrets(socket *corev3.TransportSocket) error {
	switch config := socket.GetTypedConfig(); {
	case config.MessageIs(&tlsv3.DownstreamTlsContext{}):
		m := &tlsv3.DownstreamTlsContext{}
		if err := config.UnmarshalTo(m); err != nil {
			return err
		}
		withoutADS(m.CommonTlsContext)
		socket.ConfigType = &corev3.TransportSocket_TypedConfig{TypedConfig: Any(m)}
	case config.MessageIs(&tlsv3.UpstreamTlsContext{}):
		m := &tlsv3.UpstreamTlsContext{}
		if err := config.UnmarshalTo(m); err != nil {
			return err
		}
		withoutADS(m.CommonTlsContext)
		socket.ConfigType = &corev3.TransportSocket_TypedConfig{TypedConfig: Any(m)}
	}
	return nil
}

func withoutADS(c *tlsv3.CommonTlsContext) {
	secrets := []*tlsv3.SdsSecretConfig{c.GetCombinedValidationContext().GetValidationContextSdsSecretConfig()}
	for _, secret := range append(secrets, c.TlsCertificateSdsSecretConfigs...) {
		if secret.GetSdsConfig().GetAds() != nil {
			secret.SdsConfig = nil
		}
	}
}

// newBootstrap returns a bootstrap with the admin interface and its cluster.
func newBootstrap(node string, admin netip.AddrPort) *bootstrapv3.Bootstrap {
	address := SocketAddress(admin.Addr().String(), uint32(admin.Port()))
	cluster := newCluster(AdminCluster, OutboundConnectTimeout)
	cluster.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC}
	cluster.LoadAssignment = &endpointv3.ClusterLoadAssignment{
		ClusterName: AdminCluster,
		Endpoints: []*endpointv3.LocalityLbEndpoints{{LbEndpoints: []*endpointv3.LbEndpoint{{
			HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{Address: address}},
		}}}},
	}
	return &bootstrapv3.Bootstrap{
		Node:  &corev3.Node{Id: node, Cluster: "meshmatch"},
		Admin: &bootstrapv3.Admin{Address: address},
		StaticResources: &bootstrapv3.Bootstrap_StaticResources{
			Clusters: []*clusterv3.Cluster{cluster},
		},
	}
}
