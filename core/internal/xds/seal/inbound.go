package seal

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/meshmatch/meshmatch/core/internal/envoyapi"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// Chain is how many filters of a filter chain decide about clients. They are the first
// ones, up to the permission filter.
type Chain struct {
	Network int
	HTTP    int // of the connection manager
}

// Inbound is the resources of an inbound as its translators made them. It is immutable
// and holds the messages without a copy, so they must not change.
type Inbound struct {
	listener *listenerv3.Listener
	chains   []Chain
}

// New returns the seal of an inbound. The chains are the listener's, in its order.
// It returns nil if no filter decides about clients.
func New(listener *listenerv3.Listener, chains []Chain) *Inbound {
	for _, c := range chains {
		if c != (Chain{}) {
			return &Inbound{listener, chains}
		}
	}
	return nil
}

// freeListenerFields are the fields of a listener that a change may set. They decide
// neither which connections it accepts nor which chain serves them.
var freeListenerFields = names(
	"name", "address", "filter_chains", "access_log", "metadata", "stat_prefix", "stats_matcher", "drain_type",
	"per_connection_buffer_limit_bytes", "per_connection_buffer_high_watermark_timeout", "listener_filters_timeout",
	"socket_options", "tcp_keepalive", "tcp_fast_open_queue_length", "tcp_backlog_size", "connection_balance_config",
	"reuse_port", "enable_reuse_port", "enable_mptcp", "max_connections_to_accept_per_socket_event",
	"ignore_global_conn_limit", "bypass_overload_manager",
)

// freeChainFields are the fields of a filter chain that a change may set.
var freeChainFields = names("filters", "name", "metadata", "transport_socket_connect_timeout")

// Broken compares messages with the messages of the inbound that they replace. It returns the
// decisions about clients that they remove or bypass.
func (s *Inbound) Broken(messages []proto.Message) (broken []string) {
	var listener *listenerv3.Listener
	for _, m := range messages {
		switch m := m.(type) {
		case *listenerv3.Listener:
			if m.Name == s.listener.Name {
				listener = m
			}
		case *routev3.RouteConfiguration:
			broken = append(broken, s.brokenRoutes(m)...)
		}
	}
	if listener == nil {
		return append(broken, "the listener is removed")
	}
	if listener == s.listener {
		return broken
	}
	return append(broken, s.brokenListener(canonical(s.listener), canonical(listener))...)
}

func (s *Inbound) brokenListener(before, after *listenerv3.Listener) (broken []string) {
	free := freeListenerFields
	if before.BindToPort != nil && !before.BindToPort.Value { // connections are redirected by its address
		free = free.without("address")
	}
	for _, field := range differences(before, after, free) {
		broken = append(broken, fmt.Sprintf("%s of the listener is changed", field))
	}
	if len(after.FilterChains) != len(before.FilterChains) {
		return append(broken, fmt.Sprintf("the listener has %d filter chains instead of %d", len(after.FilterChains), len(before.FilterChains)))
	}
	for i, chain := range before.FilterChains {
		for _, field := range differences(chain, after.FilterChains[i], freeChainFields) {
			broken = append(broken, fmt.Sprintf("%s of a filter chain is changed", field))
		}
		broken = append(broken, brokenChain(chain.Filters, after.FilterChains[i].Filters, s.chains[i])...)
	}
	return broken
}

// brokenRoutes returns how routes bypass the decisions: by their own config for a deciding
// filter, or by a cluster that a request chooses.
func (s *Inbound) brokenRoutes(routes *routev3.RouteConfiguration) (broken []string) {
	sealed := map[string]bool{}
	for i, chain := range s.listener.FilterChains {
		for _, f := range httpFilters(chain.Filters)[:s.chains[i].HTTP] {
			sealed[f.Name], sealed[message.CanonicalName(f.Name)] = true, true // a static bootstrap has it inline
		}
	}
	seen := map[string]bool{}
	found := func(format string, args ...any) {
		if text := fmt.Sprintf(format, args...); !seen[text] {
			seen[text] = true
			broken = append(broken, text)
		}
	}
	for m := range envoyapi.Messages(routes) {
		for _, field := range []protoreflect.Name{"typed_per_filter_config", "filter_configs"} {
			if configs := m.Descriptor().Fields().ByName(field); configs != nil && configs.IsMap() {
				m.Get(configs).Map().Range(func(key protoreflect.MapKey, _ protoreflect.Value) bool {
					if sealed[key.String()] {
						found("a route has its own config of the filter %s", key.String())
					}
					return true
				})
			}
		}
		if reason := chosenByRequest(m); reason != "" {
			found("%s", reason)
		}
	}
	return broken
}
