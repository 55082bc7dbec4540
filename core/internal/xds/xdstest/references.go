package xdstest

import (
	"sync"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A Reference is what a resource refers to.
type Reference struct {
	Type wire.Type
	Name string
}

// known has the references that were found, by type and body.
var known sync.Map

// References returns what a resource refers to: routes, extensions and clusters of a listener, clusters
// of a route, endpoints of a cluster, which are called as the cluster is (SPEC 11.4).
func References(t wire.Type, name, body string) []Reference {
	if t != wire.ListenerType && t != wire.RouteType && t != wire.ClusterType {
		return nil
	}
	if found, ok := known.Load(Seen{t, name, body}); ok {
		return found.([]Reference)
	}
	m := map[wire.Type]proto.Message{wire.ListenerType: &listenerv3.Listener{}, wire.RouteType: &routev3.RouteConfiguration{}, wire.ClusterType: &clusterv3.Cluster{}}[t]
	if proto.Unmarshal([]byte(body), m) != nil {
		return nil
	}
	var found []Reference
	if c, ok := m.(*clusterv3.Cluster); ok {
		if c.GetLoadAssignment() == nil && c.GetType() != clusterv3.Cluster_ORIGINAL_DST {
			found = []Reference{{wire.EndpointType, name}}
		}
	} else {
		for m := range envoyapi.Messages(m) {
			found = append(found, referencesOf(m.Interface())...)
		}
	}
	known.Store(Seen{t, name, body}, found)
	return found
}

// referencesOf returns what a message refers to, without the messages inside of it.
func referencesOf(m proto.Message) (found []Reference) {
	switch m := m.(type) {
	case *httpv3.Rds:
		return []Reference{{wire.RouteType, m.GetRouteConfigName()}}
	case *httpv3.HttpFilter:
		if m.GetConfigDiscovery() != nil {
			return []Reference{{wire.ExtensionType, m.GetName()}}
		}
	case *listenerv3.Filter:
		if m.GetConfigDiscovery() != nil {
			return []Reference{{wire.ExtensionType, m.GetName()}}
		}
	case *corev3.TypedExtensionConfig:
		return nil
	case *tcpv3.TcpProxy:
		if m.GetCluster() != "" {
			return []Reference{{wire.ClusterType, m.GetCluster()}}
		}
	case *routev3.RouteAction:
		if m.GetCluster() != "" {
			found = append(found, Reference{wire.ClusterType, m.GetCluster()})
		}
		for _, c := range m.GetWeightedClusters().GetClusters() {
			found = append(found, Reference{wire.ClusterType, c.GetName()})
		}
	}
	return found
}

// EndpointsOf returns the endpoints of a resource of endpoints, as bytes.
func EndpointsOf(body string) (all []string) {
	var of endpointv3.ClusterLoadAssignment
	if proto.Unmarshal([]byte(body), &of) != nil {
		return []string{body}
	}
	for _, group := range of.GetEndpoints() {
		for _, one := range group.GetLbEndpoints() {
			bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(one)
			if err != nil {
				panic(err)
			}
			all = append(all, string(bytes))
		}
	}
	return all
}
