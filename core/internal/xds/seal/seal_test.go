package seal_test

import (
	"slices"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	statecommonv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"
	grpcstatsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/grpc_stats/v3"
	luav3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/lua/v3"
	httprbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	limitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/connection_limit/v3"
	echov3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/echo/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	mongov3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/mongo_proxy/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	statev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/set_filter_state/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/seal"
)

func network(name string, config proto.Message) *listenerv3.Filter {
	return &listenerv3.Filter{Name: name, ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: message.Any(config)}}
}

func http(name string, config proto.Message) *hcmv3.HttpFilter {
	return &hcmv3.HttpFilter{Name: name, ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: message.Any(config)}}
}

// inbound is the resources of an inbound. The connection manager is packed into the
// listener after the change.
type inbound struct {
	listener *listenerv3.Listener
	manager  *hcmv3.HttpConnectionManager // nil for TCP
	routes   *routev3.RouteConfiguration
	messages []proto.Message // instead of listener and routes, if it is not nil
}

func (i *inbound) finished() []proto.Message {
	if i.messages != nil {
		return i.messages
	}
	if i.manager == nil {
		return []proto.Message{i.listener}
	}
	filters := i.listener.FilterChains[0].Filters
	filters[len(filters)-1] = network("manager", i.manager)
	return []proto.Message{i.listener, i.routes}
}

// httpInbound is an inbound of HTTP over TLS. The network filter identity and the HTTP
// filter rbac decide.
func httpInbound() (*inbound, []seal.Chain) {
	manager := message.NewManager("inbound", "inbound/10.0.0.1/80", 0, 0)
	manager.HttpFilters = []*hcmv3.HttpFilter{http("rbac", &httprbacv3.RBAC{}), http("router", &routerv3.Router{})}
	return &inbound{
		listener: &listenerv3.Listener{
			Name: "inbound/10.0.0.1/80", Address: message.SocketAddress("10.0.0.1", 80),
			FilterChains: []*listenerv3.FilterChain{{
				TransportSocket: message.TransportSocket(&tlsv3.DownstreamTlsContext{RequireClientCertificate: wrapperspb.Bool(true)}),
				Filters:         []*listenerv3.Filter{network("identity", &rbacv3.RBAC{StatPrefix: "identity"}), nil},
			}},
		},
		manager: manager,
		routes: &routev3.RouteConfiguration{Name: "inbound/10.0.0.1/80", VirtualHosts: []*routev3.VirtualHost{{
			Name: "all", Domains: []string{"*"}, Routes: []*routev3.Route{message.RouteTo("local/10.0.0.1/80", 0, 0)},
		}}},
	}, []seal.Chain{{Network: 1, HTTP: 1}}
}

// tcpInbound is an inbound of TCP in mode Permissive. The filters before the TCP proxies
// decide.
func tcpInbound() (*inbound, []seal.Chain) {
	rbac, proxy := &rbacv3.RBAC{StatPrefix: "inbound"}, message.NewTCPProxy("inbound", "local/10.0.0.1/80", 0)
	return &inbound{listener: &listenerv3.Listener{
		Name: "inbound/10.0.0.1/80", BindToPort: wrapperspb.Bool(false), Address: message.SocketAddress("10.0.0.1", 80),
		FilterChains: []*listenerv3.FilterChain{{
			FilterChainMatch: &listenerv3.FilterChainMatch{ApplicationProtocols: []string{message.MeshALPN}},
			TransportSocket:  message.TransportSocket(&tlsv3.DownstreamTlsContext{}),
			Filters:          []*listenerv3.Filter{network("identity", &rbacv3.RBAC{StatPrefix: "identity"}), network("rbac", rbac), network("proxy", proxy)},
		}, {
			Filters: []*listenerv3.Filter{network("rbac", rbac), network("proxy", proxy)},
		}},
	}}, []seal.Chain{{Network: 2}, {Network: 1}}
}

// A change is refused with the reason broken. If that is empty, the change is allowed.
type change struct {
	name   string
	do     func(*inbound)
	broken string
}

func TestBrokenHTTP(t *testing.T) {
	rbac := http("rbac", &httprbacv3.RBAC{})
	lua := http("lua", &luav3.Lua{StatPrefix: "a"})
	test(t, httpInbound, []change{
		{"nothing", func(*inbound) {}, ""},
		{"the same filter, packed anew", func(i *inbound) { i.manager.HttpFilters[0] = rbac }, ""},
		{"limits, timeouts and names", func(i *inbound) {
			i.manager.StreamIdleTimeout, i.manager.ServerName = durationpb.New(1e9), "mine"
			i.listener.StatPrefix, i.listener.PerConnectionBufferLimitBytes = "mine", wrapperspb.UInt32(1000)
		}, ""},
		{"another address where the listener binds it", func(i *inbound) { i.listener.Address = message.SocketAddress("10.0.0.1", 81) }, ""},
		{"a filter in front that passes requests on", func(i *inbound) {
			i.manager.HttpFilters = slices.Insert(i.manager.HttpFilters, 0, http("stats", &grpcstatsv3.FilterConfig{}))
		}, ""},
		{"a program after the decision", func(i *inbound) { i.manager.HttpFilters = slices.Insert(i.manager.HttpFilters, 1, lua) }, ""},
		{"a connection limit", func(i *inbound) {
			chain := i.listener.FilterChains[0]
			chain.Filters = slices.Insert(chain.Filters, 0, network("limit", &limitv3.ConnectionLimit{StatPrefix: "a"}))
		}, ""},
		{"a route's config of another filter", func(i *inbound) {
			i.routes.VirtualHosts[0].TypedPerFilterConfig = map[string]*anypb.Any{"lua": message.Any(&luav3.LuaPerRoute{})}
		}, ""},
		{"an upgrade", func(i *inbound) {
			i.manager.UpgradeConfigs = append(i.manager.UpgradeConfigs, &hcmv3.HttpConnectionManager_UpgradeConfig{UpgradeType: "spdy"})
		}, ""},

		{"a program in front", func(i *inbound) { i.manager.HttpFilters = slices.Insert(i.manager.HttpFilters, 0, lua) }, "is before rbac"},
		{"a filter in front by ECDS", func(i *inbound) {
			i.manager.HttpFilters = slices.Insert(i.manager.HttpFilters, 0, &hcmv3.HttpFilter{
				Name: "later", ConfigType: &hcmv3.HttpFilter_ConfigDiscovery{ConfigDiscovery: &corev3.ExtensionConfigSource{}},
			})
		}, "is before rbac"},
		{"no permission filter", func(i *inbound) { i.manager.HttpFilters = i.manager.HttpFilters[1:] }, "the filter rbac is removed"},
		{"another config of it", func(i *inbound) {
			i.manager.HttpFilters[0] = http("rbac", &httprbacv3.RBAC{RulesStatPrefix: "mine"})
		}, "the filter rbac is replaced or moved"},
		{"it is disabled", func(i *inbound) { i.manager.HttpFilters[0].Disabled = true }, "the filter rbac is replaced or moved"},
		{"it is after the router", func(i *inbound) { slices.Reverse(i.manager.HttpFilters) }, "is before rbac"},
		{"a route's own config of it", func(i *inbound) {
			i.routes.VirtualHosts[0].Routes[0].TypedPerFilterConfig = map[string]*anypb.Any{"rbac": message.Any(&httprbacv3.RBACPerRoute{})}
		}, "a route has its own config of the filter rbac"},
		{"a request chooses the cluster", func(i *inbound) {
			i.routes.VirtualHosts[0].Routes[0].GetRoute().ClusterSpecifier = &routev3.RouteAction_ClusterHeader{ClusterHeader: "x-cluster"}
		}, "a request chooses the cluster"},
		{"paths as they are", func(i *inbound) { i.manager.NormalizePath = wrapperspb.Bool(false) }, "the option normalize_path"},
		{"addresses of headers", func(i *inbound) { i.manager.UseRemoteAddress = wrapperspb.Bool(true) }, "the option use_remote_address"},
		{"CONNECT", func(i *inbound) {
			i.manager.UpgradeConfigs = append(i.manager.UpgradeConfigs, &hcmv3.HttpConnectionManager_UpgradeConfig{UpgradeType: "connect"})
		}, "an upgrade to connect has no path"},
		{"an upgrade with filters of its own", func(i *inbound) { i.manager.UpgradeConfigs[0].Filters = []*hcmv3.HttpFilter{lua} }, "has its own filters"},
		{"no network filter that decides", func(i *inbound) {
			i.listener.FilterChains[0].Filters = i.listener.FilterChains[0].Filters[1:]
		}, "the filter identity is removed"},
		{"a network filter that answers", func(i *inbound) {
			chain := i.listener.FilterChains[0]
			chain.Filters = slices.Insert(chain.Filters, 1, network("echo", &echov3.Echo{}))
		}, "is before manager"},
		{"no TLS", func(i *inbound) { i.listener.FilterChains[0].TransportSocket = nil }, "transport_socket of a filter chain"},
		{"a match", func(i *inbound) {
			i.listener.FilterChains[0].FilterChainMatch = &listenerv3.FilterChainMatch{TransportProtocol: "tls"}
		}, "filter_chain_match of a filter chain"},
		{"another chain", func(i *inbound) {
			i.listener.FilterChains = append(i.listener.FilterChains, proto.CloneOf(i.listener.FilterChains[0]))
			i.finished()
		}, "2 filter chains instead of 1"},
		{"a default chain", func(i *inbound) { i.listener.DefaultFilterChain = &listenerv3.FilterChain{} }, "default_filter_chain of the listener"},
		{"no listener", func(i *inbound) { i.messages = []proto.Message{i.routes} }, "the listener is removed"},
	})
}

func TestBrokenTCP(t *testing.T) {
	between := func(config proto.Message) func(*inbound) {
		return func(i *inbound) {
			chain := i.listener.FilterChains[0]
			chain.Filters = slices.Insert(chain.Filters, 2, network("added", config))
		}
	}
	connecting := func(mode tcpv3.UpstreamConnectMode) func(*inbound) {
		return func(i *inbound) {
			proxy := message.NewTCPProxy("inbound", "local/10.0.0.1/80", 0)
			proxy.UpstreamConnectMode = mode
			i.listener.FilterChains[1].Filters[1] = network("proxy", proxy)
		}
	}
	test(t, tcpInbound, []change{
		{"nothing", func(*inbound) {}, ""},
		{"a filter that waits for the client", between(&mongov3.MongoProxy{StatPrefix: "a"}), ""},
		{"a filter that answers", between(&echov3.Echo{}), "is before proxy"},
		{"no permission filter for clients in plain text", func(i *inbound) {
			i.listener.FilterChains[1].Filters = i.listener.FilterChains[1].Filters[1:]
		}, "the filter rbac is removed"},
		{"the order of the filters", func(i *inbound) { slices.Reverse(i.listener.FilterChains[0].Filters[:2]) }, "is replaced or moved"},
		{"no proxy", func(i *inbound) {
			i.listener.FilterChains[1].Filters = i.listener.FilterChains[1].Filters[:1]
		}, "a filter chain does not end in proxy"},
		{"a connection before the decision", connecting(tcpv3.UpstreamConnectMode_ON_DOWNSTREAM_DATA), "connects at another time"},
		{"an address to which connections are redirected", func(i *inbound) {
			i.listener.Address = message.SocketAddress("10.0.0.1", 81)
		}, "address of the listener"},
		{"TLS of the mesh without ALPN", func(i *inbound) { i.listener.FilterChains[0].FilterChainMatch = nil }, "filter_chain_match of a filter chain"},
		{"the order of the chains", func(i *inbound) { slices.Reverse(i.listener.FilterChains) }, "of a filter chain is changed"},
		{"one chain", func(i *inbound) { i.listener.FilterChains = i.listener.FilterChains[1:] }, "1 filter chains instead of 2"},
	})
}

// test makes each change to an inbound. The seal is made from another copy of it.
func test(t *testing.T, build func() (*inbound, []seal.Chain), changes []change) {
	t.Helper()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			before, chains := build()
			before.finished()
			sealed := seal.New(before.listener, chains)
			after, _ := build()
			c.do(after)
			broken := strings.Join(sealed.Broken(after.finished()), "\n")
			switch {
			case c.broken == "" && broken != "":
				t.Errorf("it is refused: %s", broken)
			case !strings.Contains(broken, c.broken):
				t.Errorf("got %q, want %q", broken, c.broken)
			}
		})
	}
}

// A filter of an inbound compares the URI SANs of the client in the filter state. A change
// must not write it, not even between the last network filter that decides and the manager or
// the proxy: a value from the begin of the connection could not be replaced by the handshake.
func TestFilterState(t *testing.T) {
	state := func(key string) *statev3.Config {
		return &statev3.Config{OnNewConnection: []*statecommonv3.FilterStateValue{{Key: &statecommonv3.FilterStateValue_ObjectKey{ObjectKey: key}, ReadOnly: true}}}
	}
	for name, build := range map[string]func() (*inbound, []seal.Chain){"HTTP": httpInbound, "TCP": tcpInbound} {
		t.Run(name, func(t *testing.T) {
			recording := func() (*inbound, []seal.Chain) {
				i, chains := build()
				first := i.listener.FilterChains[0]
				first.Filters = slices.Insert(first.Filters, 0, network("peer", state("meshmatch.peer")))
				chains[0].Network++
				return i, chains
			}
			at := func(place int, config proto.Message) func(*inbound) {
				return func(i *inbound) {
					first := i.listener.FilterChains[0]
					first.Filters = slices.Insert(first.Filters, place, network("added", config))
				}
			}
			whole, _ := recording()
			last := len(whole.listener.FilterChains[0].Filters) - 1
			test(t, recording, []change{
				{"nothing", func(*inbound) {}, ""},
				{"no record", func(i *inbound) { i.listener.FilterChains[0].Filters = i.listener.FilterChains[0].Filters[1:] }, "the filter peer is removed"},
				{"before the record", at(0, state("meshmatch.peer")), "is before peer"},
				{"after the record", at(1, state("meshmatch.peer")), "is before identity"},
				{"after the last filter that decides", at(last, state("meshmatch.peer")), "the filter added (envoy.extensions.filters.network.set_filter_state.v3.Config) is before"},
			})
		})
	}
}

// An inbound without a filter that decides has no seal.
func TestNothingDecides(t *testing.T) {
	i, _ := tcpInbound()
	if sealed := seal.New(i.listener, []seal.Chain{{}, {}}); sealed != nil {
		t.Errorf("got %v", sealed)
	}
}
