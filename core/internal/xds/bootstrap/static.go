package bootstrap

import (
	"fmt"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"github.com/meshmatch/meshmatch/core/internal/spiffe"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
	"github.com/meshmatch/meshmatch/core/xds/wire"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Static returns a bootstrap that contains all resources of a snapshot, so that Envoy runs
// without a server (SPEC 11.7). The error is [ErrBundled], or is about a resource that
// cannot be decoded, because an extension made it.
func Static(s *snapshot.Snapshot, o Options) (*bootstrapv3.Bootstrap, error) {
	if s.Identity != nil && s.Identity.Source.Spec.Provider.Type == spiffe.Bundled {
		return nil, fmt.Errorf("%s: %w", s.Dataplane.ID, ErrBundled)
	}
	b := newBootstrap(s.Dataplane, s.Identity, o)
	static := b.StaticResources
	routes := map[string]*routev3.RouteConfiguration{}
	assignments := map[string]*endpointv3.ClusterLoadAssignment{}
	extensions := map[string]*anypb.Any{}
	for t := range wire.Type(wire.NumTypes) {
		for _, r := range s.Resources(t) {
			m, err := message.Decode(r)
			if err != nil {
				return nil, err
			}
			switch m := m.(type) {
			case *routev3.RouteConfiguration:
				// With a server, routes may refer to clusters that do not exist.
				m.ValidateClusters = wrapperspb.Bool(false)
				routes[m.Name] = m
			case *endpointv3.ClusterLoadAssignment:
				assignments[m.ClusterName] = m
			case *corev3.TypedExtensionConfig:
				extensions[m.Name] = m.TypedConfig
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
		if err := inlineSecrets(c.TransportSocket); err != nil {
			return nil, err
		}
		for _, match := range c.TransportSocketMatches {
			if err := inlineSecrets(match.TransportSocket); err != nil {
				return nil, err
			}
		}
	}
	for _, l := range static.Listeners {
		for _, chain := range l.FilterChains {
			if err := inlineChain(chain, routes, extensions); err != nil {
				return nil, fmt.Errorf("listener %s: %w", l.Name, err)
			}
		}
	}
	return b, nil
}

// inlineEndpoints puts its endpoints into a cluster.
func inlineEndpoints(c *clusterv3.Cluster, assignments map[string]*endpointv3.ClusterLoadAssignment) {
	if c.EdsClusterConfig == nil {
		return
	}
	c.EdsClusterConfig = nil
	c.ClusterDiscoveryType = &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC}
	c.LoadAssignment = assignments[c.Name]
}

// inlineChain puts its routes and extensions into a filter chain, and makes its transport
// socket use the secrets of the bootstrap.
func inlineChain(chain *listenerv3.FilterChain, routes map[string]*routev3.RouteConfiguration, extensions map[string]*anypb.Any) error {
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
		}
		for _, filter := range manager.HttpFilters {
			if filter.GetConfigDiscovery().GetConfigSource().GetAds() == nil {
				continue
			}
			config := extensions[filter.Name]
			if config == nil { // a patch may have added the filter
				return fmt.Errorf("the filter %s: its config is a resource that the server does not have", filter.Name)
			}
			filter.Name = message.CanonicalName(filter.Name)
			filter.ConfigType = &hcmv3.HttpFilter_TypedConfig{TypedConfig: config}
		}
		f.ConfigType = &listenerv3.Filter_TypedConfig{TypedConfig: message.Any(manager)}
	}
	return nil
}

// inlineSecrets makes a transport socket use secrets of the bootstrap instead of the
// server's secrets. Secrets from other sources are not changed. The socket may be nil.
func inlineSecrets(socket *corev3.TransportSocket) error {
	config := socket.GetTypedConfig()
	if !config.MessageIs(&tlsv3.DownstreamTlsContext{}) && !config.MessageIs(&tlsv3.UpstreamTlsContext{}) {
		return nil
	}
	m, err := config.UnmarshalNew()
	if err != nil {
		return err
	}
	withoutADS(m.(interface {
		GetCommonTlsContext() *tlsv3.CommonTlsContext
	}).GetCommonTlsContext())
	socket.ConfigType = &corev3.TransportSocket_TypedConfig{TypedConfig: message.Any(m)}
	return nil
}

func withoutADS(c *tlsv3.CommonTlsContext) {
	secrets := []*tlsv3.SdsSecretConfig{c.GetCombinedValidationContext().GetValidationContextSdsSecretConfig()}
	for _, secret := range append(secrets, c.GetTlsCertificateSdsSecretConfigs()...) {
		if secret.GetSdsConfig().GetAds() != nil {
			secret.SdsConfig = nil
		}
	}
}
