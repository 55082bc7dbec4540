package seal_test

import (
	"net/netip"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	dnsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/clusters/dns/v3"
	luav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	sniv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/sni_cluster/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
)

// An added resource that leads to the workload without passing its inbound is found, by
// name, by address and through other resources (SPEC 11.5).
func TestReached(t *testing.T) {
	workload := &seal.Workload{
		Names:     []string{"local/10.0.0.1/80", "inbound/10.0.0.1/80"},
		Dynamic:   []string{"passthrough/inbound"},
		Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.1")},
		Ports:     map[uint32][]string{80: {"local/10.0.0.1/80"}},
	}
	listener := func(filters ...*listenerv3.Filter) proto.Message {
		return &listenerv3.Listener{
			Name: "mine", Address: message.SocketAddress("127.0.0.1", 80), FilterChains: []*listenerv3.FilterChain{{Filters: filters}},
		}
	}
	to := func(cluster string) proto.Message {
		return listener(network("proxy", message.NewTCPProxy("mine", cluster, 0)))
	}
	at := func(host string, port uint32) proto.Message {
		return message.NewStaticCluster("target", message.SocketAddress(host, port), 0)
	}
	for _, c := range []struct {
		name     string
		messages []proto.Message
		want     string // the reason for the first resource; "": none leads to the workload
	}{
		{"another cluster", []proto.Message{to("default/api")}, ""},
		{"another port of the machine", []proto.Message{to("target"), at("127.0.0.1", 81)}, ""},
		{"another machine", []proto.Message{to("target"), at("10.0.0.2", 80)}, ""},
		{"its cluster", []proto.Message{to("local/10.0.0.1/80")}, "it refers to local/10.0.0.1/80"},
		{"its address by the loopback", []proto.Message{at("127.0.0.2", 80)}, "connects to the workload at 127.0.0.2:80"},
		{"its address mapped to IPv6", []proto.Message{at("::ffff:10.0.0.1", 80)}, "connects to the workload at [::ffff:10.0.0.1]:80"},
		{"any address", []proto.Message{at("0.0.0.0", 80)}, "connects to the workload at 0.0.0.0:80"},
		{"a name, whose address another server chooses", []proto.Message{at("api.example.com", 80)}, "connects to the workload at api.example.com:80"},
		{"a number that is an address to a resolver", []proto.Message{at("2130706433", 80)}, "connects to the workload at 2130706433:80"},
		{"an address with a zone", []proto.Message{at("::1%lo", 80)}, "connects to the workload at [::1%lo]:80"},
		{"a name at another port", []proto.Message{at("api.example.com", 443)}, ""},
		{"a name of a port", []proto.Message{message.NewStaticCluster("target", &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address: "10.0.0.9", PortSpecifier: &corev3.SocketAddress_NamedPort{NamedPort: "http"},
		}}}, 0)}, "connects to the workload at 10.0.0.9:http"},
		{"an aggregate by name, with the config of another type", []proto.Message{to("target"), &clusterv3.Cluster{
			Name: "target", ClusterDiscoveryType: &clusterv3.Cluster_ClusterType{ClusterType: &clusterv3.Cluster_CustomClusterType{
				Name: "envoy.clusters.aggregate", TypedConfig: message.Any(&dnsv3.DnsCluster{}),
			}},
		}}, "its endpoints are chosen by"},
		{"localhost", []proto.Message{at("LocalHost.", 80)}, "connects to the workload at LocalHost.:80"},
		{"a cluster that connects to an address that the client chooses", []proto.Message{to("passthrough/inbound")}, "passthrough/inbound, which connects to an address that the client chooses"},
		{"an added cluster that does", []proto.Message{to("target"), &clusterv3.Cluster{
			Name: "target", ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_ORIGINAL_DST},
		}}, "ORIGINAL_DST"},
		{"the server name", []proto.Message{listener(network("sni", &sniv3.SniCluster{}))}, "the client's server name chooses the cluster"},
		{"a proxy of its socket, whose Go type is not linked", []proto.Message{to("target"), parsed(t, &clusterv3.Cluster{}, `{name: target, type: STATIC, loadAssignment: {clusterName: target}, transportSocket: {name: x,
			typedConfig: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport, defaultProxyAddress: {socketAddress: {address: 127.0.0.1, portValue: 80}}}}}`)}, "connects to the workload at 127.0.0.1:80"},
		{"clusters on demand of another server", []proto.Message{parsed(t, &listenerv3.Listener{}, `{name: mine, filterChains: [{filters: [{name: x, typedConfig: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy,
			cluster: c, onDemand: {odcdsConfig: {apiConfigSource: {apiType: DELTA_GRPC}}}}}]}]}`)}, "odcds_config"},
		{"clusters on demand of the server of the proxy", []proto.Message{parsed(t, &listenerv3.Listener{}, `{name: mine, filterChains: [{filters: [{name: x, typedConfig: {"@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy,
			cluster: c, onDemand: {odcdsConfig: {ads: {}}}}}]}]}`)}, ""},
		{"routes of a file", []proto.Message{parsed(t, &listenerv3.Listener{}, `{name: mine, filterChains: [{filters: [{name: x, typedConfig: {"@type": type.googleapis.com/envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy,
			trds: {configSource: {pathConfigSource: {path: /x}}}}}]}]}`)}, "config_source"},
		{"answers that redirect", []proto.Message{parsed(t, &listenerv3.Listener{}, `{name: mine, filterChains: [{filters: [{name: x, typedConfig: {"@type": type.googleapis.com/envoy.extensions.filters.network.redis_proxy.v3.RedisProxy,
			settings: {enableRedirection: true}}}]}]}`)}, "enable_redirection"},
		{"a secret of an agent", []proto.Message{to("target"), parsed(t, &clusterv3.Cluster{}, `{name: target, type: STATIC, transportSocket: {name: x, typedConfig: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext,
			commonTlsContext: {validationContextSdsSecretConfig: {name: trust, sdsConfig: {apiConfigSource: {apiType: GRPC}}}}}}}`)}, ""},
		{"a program", []proto.Message{listener(network("lua", &luav3.Lua{}))}, "it runs a program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var changes []seal.ReferenceSet
			for _, m := range c.messages {
				_, isCluster := m.(*clusterv3.Cluster)
				name := "mine"
				if isCluster {
					name = "target"
				}
				changes = append(changes, seal.ReferenceSet{Name: name, Reach: seal.Find(m), Cluster: isCluster, Changed: true, Exposed: !isCluster})
			}
			reached := workload.Reached(changes)
			got := reached[0]
			if (c.want == "") != (len(reached) == 0) || !strings.Contains(got, c.want) {
				t.Errorf("got %v, want %q", reached, c.want)
			}
		})
	}
}

// parsed returns a message of YAML, with all types of Envoy's API.
func parsed[M proto.Message](t *testing.T, m M, text string) M {
	t.Helper()
	data, err := meshproxypatch.EnvoyResource(text).JSON()
	if err == nil {
		err = protojson.UnmarshalOptions{Resolver: envoyapi.Types{}}.Unmarshal(data, m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Other machines reach no cluster that presents a certificate by a listener that a patch adds or
// moves (SPEC 11.5).
func TestLentIdentity(t *testing.T) {
	certified := parsed(t, &clusterv3.Cluster{}, `{name: target, type: EDS, transportSocket: {name: x, typedConfig: {"@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext,
		commonTlsContext: {tlsCertificateSdsSecretConfigs: [{name: identity, sdsConfig: {ads: {}}}]}}}}`)
	proxy := &listenerv3.Listener{Name: "mine", FilterChains: []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{network("proxy", message.NewTCPProxy("mine", "target", 0))}}}}
	cluster := seal.ReferenceSet{Name: "target", Reach: seal.Find(certified), Cluster: true, Kept: true}
	patched, added := cluster, cluster
	patched.Changed = true
	added.Changed, added.Kept = true, false
	listener := seal.ReferenceSet{Name: "mine", Reach: seal.Find(proxy), Exposed: true, Remote: true}
	moved, local, guarded, kept := listener, listener, listener, listener
	moved.Changed, moved.Kept = true, true
	local.Changed, local.Remote = true, false
	guarded.Changed, guarded.Guarded = true, true
	kept.Kept = true
	for _, c := range []struct {
		name              string
		cluster, listener seal.ReferenceSet
		reached           int // the index of the change, -1 if there is none
	}{
		{"a moved listener", cluster, moved, 1},
		{"a moved listener to a patched cluster", patched, moved, 1},
		{"a listener of an inbound", cluster, guarded, -1},
		{"a listener on loopback", cluster, local, -1},
		{"a patched cluster of a listener that stays", patched, kept, -1},
		{"an added cluster of a listener that stays", added, kept, 0},
		{"nothing is changed", cluster, kept, -1},
	} {
		got := (&seal.Workload{}).Reached([]seal.ReferenceSet{c.cluster, c.listener})
		if (c.reached < 0) != (len(got) == 0) || c.reached >= 0 && !strings.Contains(got[c.reached], "presents a certificate") {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// The cluster of an inbound may connect to the port of its own workload, even at another
// address.
func TestOwnClusterMayReachItsPort(t *testing.T) {
	workload := &seal.Workload{Ports: map[uint32][]string{80: {"local/10.0.0.1/80"}, 81: {"local/10.0.0.1/80", "local/10.0.0.1/90"}}}
	for port, want := range map[uint32]bool{80: false, 81: true} {
		reach := seal.Find(message.NewStaticCluster("local/10.0.0.1/80", message.SocketAddress("127.0.0.9", port), 0))
		if got := workload.Reached([]seal.ReferenceSet{{Name: "local/10.0.0.1/80", Reach: reach, Cluster: true, Changed: true}}); (len(got) > 0) != want {
			t.Errorf("port %d: %v", port, got)
		}
	}
}

// A health check in which a policy writes a request is one that no permission decides. One that only
// connects is not.
func TestHealthChecksOfTheWorkload(t *testing.T) {
	workload := &seal.Workload{Names: []string{"local/10.0.0.1/80"}, Ports: map[uint32][]string{80: {"local/10.0.0.1/80"}}}
	text := &corev3.HealthCheck_Payload{Payload: &corev3.HealthCheck_Payload_Text{Text: "00"}}
	checks := map[string]*corev3.HealthCheck{
		"HTTP":           {HealthChecker: &corev3.HealthCheck_HttpHealthCheck_{HttpHealthCheck: &corev3.HealthCheck_HttpHealthCheck{Path: "/private"}}},
		"gRPC":           {HealthChecker: &corev3.HealthCheck_GrpcHealthCheck_{GrpcHealthCheck: &corev3.HealthCheck_GrpcHealthCheck{}}},
		"custom":         {HealthChecker: &corev3.HealthCheck_CustomHealthCheck_{CustomHealthCheck: &corev3.HealthCheck_CustomHealthCheck{Name: "c"}}},
		"TCP with bytes": {HealthChecker: &corev3.HealthCheck_TcpHealthCheck_{TcpHealthCheck: &corev3.HealthCheck_TcpHealthCheck{Send: text}}},
		"":               {HealthChecker: &corev3.HealthCheck_TcpHealthCheck_{TcpHealthCheck: &corev3.HealthCheck_TcpHealthCheck{}}},
	}
	for name, check := range checks {
		for _, where := range []string{"local/10.0.0.1/80", "default/api"} {
			cluster := message.NewStaticCluster(where, message.SocketAddress("127.0.0.1", 80), 0)
			before := seal.Find(cluster)
			cluster.HealthChecks = []*corev3.HealthCheck{check}
			got := workload.Reached([]seal.ReferenceSet{{Name: where, Reach: seal.Find(cluster).Without(before), Cluster: true, Changed: true}})
			if want := name != "" && where == "local/10.0.0.1/80"; (len(got) > 0) != want {
				t.Errorf("a check by %s of %s: %v", name, where, got)
			}
		}
	}
	for port, want := range map[uint32]bool{80: true, 81: false} {
		for _, host := range []string{"", "127.0.0.2"} {
			checked := message.NewStaticCluster("mine", message.SocketAddress("127.0.0.1", 99), 0)
			config := &endpointv3.Endpoint_HealthCheckConfig{PortValue: port}
			if host != "" {
				config.Address = message.SocketAddress(host, 98)
			}
			checked.LoadAssignment.Endpoints[0].LbEndpoints[0].GetEndpoint().HealthCheckConfig = config
			got := workload.Reached([]seal.ReferenceSet{{Name: "mine", Reach: seal.Find(checked), Cluster: true, Changed: true}})
			if (len(got) > 0) != want {
				t.Errorf("a check of port %d at %q: %v", port, host, got)
			}
		}
	}
}

func TestReachOfAChange(t *testing.T) {
	before := seal.Find(&listenerv3.Listener{Name: "mine", StatPrefix: "a"})
	after := seal.Find(&listenerv3.Listener{Name: "other", StatPrefix: "b"})
	if got := strings.Join(after.Texts, " "); got != "b" {
		t.Errorf("the texts are %q: the name of a resource is not a reference", got)
	}
	if !before.Without(before).Empty() || after.Without(before).Empty() || !after.Within(before).Empty() {
		t.Error("the texts a and b are not distinguished")
	}
}
