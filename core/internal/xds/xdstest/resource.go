package xdstest

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Resource returns a resource of a type with a name. The content is a text inside of
// it: another one gives another version.
func Resource(t wire.Type, name, content string) *wire.Resource {
	return Marshal(t, name, Message(t, name, content))
}

// Marshal returns a message as a resource.
func Marshal(t wire.Type, name string, m proto.Message) *wire.Resource {
	if extension, ok := m.(*corev3.TypedExtensionConfig); ok {
		m = &corev3.TypedExtensionConfig{TypedConfig: extension.TypedConfig}
	}
	body, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err)
	}
	return wire.New(t, name, body)
}

// Message returns the message of Resource.
func Message(t wire.Type, name, content string) proto.Message {
	switch t {
	case wire.ClusterType:
		return &clusterv3.Cluster{Name: name, AltStatName: content}
	case wire.EndpointType:
		return &endpointv3.ClusterLoadAssignment{ClusterName: name, Endpoints: []*endpointv3.LocalityLbEndpoints{
			{Locality: &corev3.Locality{Zone: content}},
		}}
	case wire.ListenerType:
		return &listenerv3.Listener{Name: name, StatPrefix: content}
	case wire.RouteType:
		return &routev3.RouteConfiguration{Name: name, VirtualHosts: []*routev3.VirtualHost{{Name: content, Domains: []string{"*"}}}}
	case wire.ExtensionType:
		config, err := anypb.New(&rbacv3.RBAC{RulesStatPrefix: content})
		if err != nil {
			panic(err)
		}
		return &corev3.TypedExtensionConfig{Name: name, TypedConfig: config}
	case wire.SecretType:
		return &tlsv3.Secret{Name: name, Type: &tlsv3.Secret_GenericSecret{GenericSecret: &tlsv3.GenericSecret{
			Secret: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: content}},
		}}}
	}
	panic(fmt.Sprintf("no type %d", t))
}

// nameOf returns the name inside of a resource.
func nameOf(m proto.Message) string {
	switch m := m.(type) {
	case *endpointv3.ClusterLoadAssignment:
		return m.GetClusterName()
	case interface{ GetName() string }:
		return m.GetName()
	}
	return ""
}
