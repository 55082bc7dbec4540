package xdstest

import (
	"fmt"
	"math/rand/v2"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// RandomServices returns a snapshot whose resources refer to each other: listeners to routes,
// routes to clusters, clusters to endpoints. A route may refer to a cluster that does not exist
// yet, as the route of a client that starts before its backend. For gRPC the listeners are
// selected by name only.
func RandomServices(random *rand.Rand, services []string, grpc bool) *wire.Snapshot {
	var listed, listeners []*wire.Resource
	pick := func() string { return services[random.IntN(len(services))] }
	for _, name := range services {
		if random.IntN(5) > 0 {
			listeners = append(listeners, Marshal(wire.ListenerType, name, apiListener(name, pick(), random.IntN(2))))
		}
		if random.IntN(5) > 0 {
			listed = append(listed, Marshal(wire.RouteType, name, routeTo(name, pick(), pick())))
		} else {
			listed = append(listed, Marshal(wire.RouteType, name, routeTo(name)))
		}
		if random.IntN(4) > 0 {
			listed = append(listed,
				Marshal(wire.ClusterType, name, &clusterv3.Cluster{Name: name, AltStatName: fmt.Sprint(random.IntN(3))}),
				Resource(wire.EndpointType, name, fmt.Sprint(random.IntN(2))))
		}
	}
	if grpc {
		return WithNamed(Snapshot(listed...), listeners...)
	}
	return Snapshot(append(listed, listeners...)...)
}

// apiListener returns a listener with a reference to a route. The number changes its content.
func apiListener(name, route string, n int) *listenerv3.Listener {
	manager, err := anypb.New(&httpv3.HttpConnectionManager{StatPrefix: fmt.Sprint(n),
		RouteSpecifier: &httpv3.HttpConnectionManager_Rds{Rds: &httpv3.Rds{RouteConfigName: route}}})
	if err != nil {
		panic(err)
	}
	return &listenerv3.Listener{Name: name, ApiListener: &listenerv3.ApiListener{ApiListener: manager}}
}

// routeTo returns a route to clusters.
func routeTo(name string, clusters ...string) *routev3.RouteConfiguration {
	host := &routev3.VirtualHost{Name: "all", Domains: []string{"*"}}
	for _, cluster := range clusters {
		host.Routes = append(host.Routes, &routev3.Route{
			Match:  &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
			Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: cluster}}},
		})
	}
	return &routev3.RouteConfiguration{Name: name, VirtualHosts: []*routev3.VirtualHost{host}}
}

// OneService returns a snapshot with a listener, a route, a cluster and endpoints of one name. The
// content is a part of the cluster and of the endpoints.
func OneService(name, content string, grpc bool) *wire.Snapshot {
	listener := Marshal(wire.ListenerType, name, apiListener(name, name, 0))
	listed := []*wire.Resource{Marshal(wire.RouteType, name, routeTo(name, name)),
		Marshal(wire.ClusterType, name, &clusterv3.Cluster{Name: name, AltStatName: content}), Resource(wire.EndpointType, name, content)}
	if grpc {
		return WithNamed(Snapshot(listed...), listener)
	}
	return Snapshot(append(listed, listener)...)
}
