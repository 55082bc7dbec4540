package translators

import (
	"fmt"
	"slices"
	"strings"

	udpatypev1 "github.com/cncf/xds/go/udpa/type/v1"
	xdstypev3 "github.com/cncf/xds/go/xds/type/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	httpoptionsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
)

// refusal returns why Envoy refuses a message that passes [validate]; nil if no reason is
// known. It checks lists of filters and of filter chains. These may be wrong between two
// modifications, such as one that removes the last filter and one that adds another. So
// only the result of all modifications is refused.
func refusal(m proto.Message) error {
	for m := range envoyapi.Messages(m) {
		if err := ownRefusal(m.Interface()); err != nil {
			return err
		}
	}
	return nil
}

// ownRefusal is refusal without the messages in the message.
func ownRefusal(m proto.Message) error {
	switch m := m.(type) {
	case *listenerv3.Listener:
		return listenerRefusal(m)
	case *listenerv3.FilterChain:
		return filtersRefusal(networkFilters, m.Filters)
	case *hcmv3.HttpConnectionManager:
		return managerRefusal(m)
	case *httpoptionsv3.HttpProtocolOptions:
		return filtersRefusal(upstreamFilters, m.HttpFilters)
	case *routev3.RouteAction:
		return upgradesRefusal(m.UpgradeConfigs, "resource")
	case *routerv3.Router:
		return filtersRefusal(upstreamFilters, m.UpstreamHttpFilters)
	}
	return nil
}

func listenerRefusal(l *listenerv3.Listener) error {
	if l.Address == nil && l.ApiListener == nil && l.GetInternalListener() == nil {
		return fmt.Errorf("the listener %q has no address, so Envoy would refuse it", l.Name)
	}
	for _, f := range l.ListenerFilters {
		if t := configType(f); t != "" && (strings.HasPrefix(t, networkFilters.types) || strings.HasPrefix(t, httpFilters.types)) {
			return fmt.Errorf("%s is no config of a listener filter, as %q is, so Envoy would refuse the listener", t, f.Name)
		}
	}
	if l.FilterChainMatcher == nil {
		return chainsRefusal(l.FilterChains)
	}
	return nil
}

func managerRefusal(m *hcmv3.HttpConnectionManager) error {
	if err := filtersRefusal(httpFilters, m.HttpFilters); err != nil {
		return err
	}
	for _, upgrade := range m.UpgradeConfigs {
		if err := filtersRefusal(httpFilters, upgrade.Filters); err != nil {
			return err
		}
	}
	return upgradesRefusal(m.UpgradeConfigs, "listener")
}

// upgradesRefusal returns why Envoy refuses a list of upgrades: a type may be in it once.
func upgradesRefusal[U interface{ GetUpgradeType() string }](upgrades []U, owner string) error {
	seen := map[string]bool{}
	for _, upgrade := range upgrades {
		name := strings.ToLower(upgrade.GetUpgradeType())
		if seen[name] {
			return fmt.Errorf("there are two configs of the upgrade %q, so Envoy would refuse the %s", upgrade.GetUpgradeType(), owner)
		}
		seen[name] = true
	}
	return nil
}

// filterKind is what the filters of a list have in common.
type filterKind struct {
	name, owner string
	// types is what the names of the types of configs begin with.
	types string
	// terminal are those types whose filters end a list.
	terminal []string
}

const (
	networkTypes = "envoy.extensions.filters.network."
	httpTypes    = "envoy.extensions.filters.http."
)

var (
	networkFilters = filterKind{"network filter", "listener", networkTypes, []string{
		networkTypes + "direct_response.v3.Config",
		networkTypes + "dubbo_proxy.v3.DubboProxy",
		networkTypes + "echo.v3.Echo",
		networkTypes + "generic_proxy.v3.GenericProxy",
		networkTypes + "http_connection_manager.v3.HttpConnectionManager",
		networkTypes + "redis_proxy.v3.RedisProxy",
		networkTypes + "reverse_tunnel.v3.ReverseTunnel",
		networkTypes + "tcp_proxy.v3.TcpProxy",
		networkTypes + "thrift_proxy.v3.ThriftProxy",
	}}
	httpFilters = filterKind{"HTTP filter", "listener", httpTypes, []string{
		httpTypes + "file_server.v3.FileServerConfig",
		httpTypes + "mcp_router.v3.McpRouter",
		httpTypes + "router.v3.Router",
	}}
	upstreamFilters = filterKind{"upstream HTTP filter", "resource", httpTypes, []string{
		httpTypes + "upstream_codec.v3.UpstreamCodec",
	}}
)

// filtersRefusal returns why Envoy refuses a list of filters: its last filter has to be
// terminal, enabled, and the only terminal one. Envoy accepts an empty list.
func filtersRefusal[F filter](kind filterKind, filters []F) error {
	for i, f := range filters {
		last := i == len(filters)-1
		t := configType(f)
		if optional, ok := any(f).(interface{ GetIsOptional() bool }); ok && optional.GetIsOptional() && !strings.HasPrefix(t, kind.types) {
			continue // Envoy skips it
		}
		fault := ""
		switch terminal, known := kind.ends(f, t); {
		case t == "":
			fault = "has no config"
		case !known:
			fault = "has a config of another kind: " + t
		case terminal && !last:
			fault = "ends the list of filters, but is not the last of them"
		case !terminal && last:
			fault = "is the last, but does not end the list of filters"
		case terminal && isDisabled(f):
			fault = "ends the list of filters, but is disabled"
		}
		if fault != "" {
			return fmt.Errorf("the %s %q %s, so Envoy would refuse the %s", kind.name, f.GetName(), fault, kind.owner)
		}
	}
	return nil
}

// isTerminal reports whether a filter has to be the last one of its list.
func isTerminal(f filter) bool {
	kind := networkFilters
	if _, ok := f.(*hcmv3.HttpFilter); ok {
		kind = httpFilters
	}
	terminal, _ := kind.ends(f, configType(f))
	return terminal
}

// ends reports whether a filter with a config of a type ends its list, and whether it can be
// in such a list at all.
func (k filterKind) ends(f filter, configType string) (terminal, known bool) {
	if slices.Contains(k.terminal, configType) {
		return true, true
	}
	switch configType {
	case httpTypes + "dynamic_modules.v3.DynamicModuleFilter", networkTypes + "dynamic_modules.v3.DynamicModuleNetworkFilter":
		if config, ok := configOf(f); ok {
			inner, err := unpack(config)
			module, _ := inner.(interface{ GetTerminalFilter() bool })
			terminal = err == nil && module != nil && module.GetTerminalFilter()
		}
	case "envoy.extensions.common.matching.v3.ExtensionWithMatcher": // never terminal, even around the router
		return false, k.types == httpTypes
	}
	return terminal, strings.HasPrefix(configType, k.types)
}

func isDisabled(f filter) bool {
	h, ok := f.(*hcmv3.HttpFilter)
	return ok && h.Disabled
}

// configType returns the name of the type of the config of a filter; "" if it has none. It is
// the first type that a resource for the config may have, and the type within a TypedStruct.
func configType(f filter) string {
	if config, ok := configOf(f); ok {
		return typeWithin(config)
	}
	if d, ok := any(f).(discovered); ok && len(d.GetConfigDiscovery().GetTypeUrls()) > 0 {
		return typeName(d.GetConfigDiscovery().TypeUrls[0])
	}
	return ""
}

func typeWithin(config *anypb.Any) string {
	for _, wrapper := range []interface {
		proto.Message
		GetTypeUrl() string
	}{&xdstypev3.TypedStruct{}, &udpatypev1.TypedStruct{}} {
		if config.MessageIs(wrapper) && config.UnmarshalTo(wrapper) == nil {
			return typeName(wrapper.GetTypeUrl())
		}
	}
	return typeName(config.TypeUrl)
}

func typeName(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }

// chainsRefusal returns why Envoy refuses filter chains: a connection may match no two of
// them equally.
func chainsRefusal(chains []*listenerv3.FilterChain) error {
	type scalars struct {
		port      uint32
		transport string
		source    listenerv3.FilterChainMatch_ConnectionSourceType
	}
	same := map[scalars][]int{}
	for i, chain := range chains {
		m := chain.GetFilterChainMatch()
		key := scalars{port: m.GetDestinationPort().GetValue(), transport: m.GetTransportProtocol(), source: m.GetSourceType()}
		for _, other := range same[key] {
			if o := chains[other].GetFilterChainMatch(); overlap(m.GetServerNames(), o.GetServerNames()) &&
				overlap(m.GetApplicationProtocols(), o.GetApplicationProtocols()) && overlap(m.GetSourcePorts(), o.GetSourcePorts()) &&
				overlap(ranges(m.GetPrefixRanges()), ranges(o.GetPrefixRanges())) &&
				overlap(ranges(m.GetSourcePrefixRanges()), ranges(o.GetSourcePrefixRanges())) &&
				overlap(ranges(m.GetDirectSourcePrefixRanges()), ranges(o.GetDirectSourcePrefixRanges())) {
				return fmt.Errorf("the filter chains %d and %d, from 0, match the same connections, so Envoy would refuse the listener", other, i)
			}
		}
		same[key] = append(same[key], i)
	}
	return nil
}

// overlap reports whether two conditions of filter chains have a value in common, or are both
// absent.
func overlap[V comparable](a, b []V) bool {
	return len(a) == 0 && len(b) == 0 || slices.ContainsFunc(a, func(v V) bool { return slices.Contains(b, v) })
}

// ranges returns ranges of addresses in one spelling.
func ranges(list []*corev3.CidrRange) (texts []string) {
	for _, r := range list {
		texts = append(texts, fmt.Sprintf("%s/%d", r.AddressPrefix, r.GetPrefixLen().GetValue()))
	}
	return texts
}
