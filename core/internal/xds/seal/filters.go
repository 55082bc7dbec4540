package seal

import (
	"fmt"
	"slices"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

const filters = "envoy.extensions.filters."

// inertNetwork are the network filters that may be before a decision: they pass a
// connection on unchanged, or close it.
var inertNetwork = []string{
	filters + "network.connection_limit.v3.ConnectionLimit",
	filters + "network.ext_authz.v3.ExtAuthz",
	filters + "network.local_ratelimit.v3.LocalRateLimit",
	filters + "network.ratelimit.v3.RateLimit",
	filters + "network.rbac.v3.RBAC",
}

// inertHTTP are the HTTP filters that may be before a decision: they neither answer a
// request nor change it.
var inertHTTP = []string{
	filters + "http.bandwidth_limit.v3.BandwidthLimit",
	filters + "http.grpc_stats.v3.FilterConfig",
	filters + "http.set_metadata.v3.Config",
}

// readsFirst are the network filters that may be added after the permission filter of a
// TCP inbound. That filter decides at the first byte of a client, and these filters do
// nothing before that byte.
var readsFirst = append(slices.Clone(inertNetwork),
	filters+"network.kafka_broker.v3.KafkaBroker",
	filters+"network.mongo_proxy.v3.MongoProxy",
	filters+"network.mysql_proxy.v3.MySQLProxy",
	filters+"network.postgres_proxy.v3alpha.PostgresProxy",
	filters+"network.zookeeper_proxy.v3.ZooKeeperProxy",
)

// filter is a network or HTTP filter.
type filter interface {
	proto.Message
	GetName() string
	GetTypedConfig() *anypb.Any
}

// brokenChain compares the network filters of a chain.
func brokenChain(before, after []*listenerv3.Filter, chain Chain) []string {
	broken, rest := brokenFilters(before[:chain.Network], after, inertNetwork)
	if chain.Network == len(before) { // all of them decide: the chain serves no request
		if len(rest) > 0 {
			broken = append(broken, fmt.Sprintf("the filter %s is added", describe(rest[0])))
		}
		return broken
	}
	last := before[len(before)-1]
	isManager := last.GetTypedConfig().MessageIs((*hcmv3.HttpConnectionManager)(nil))
	allowed := readsFirst
	if isManager { // its filters decide
		allowed = inertNetwork
	}
	for _, f := range before[chain.Network:] {
		allowed = append(slices.Clone(allowed), typeOf(f))
	}
	for len(rest) > 1 && rest[0].GetTypedConfig().GetTypeUrl() != last.GetTypedConfig().GetTypeUrl() {
		if f := rest[0]; !slices.Contains(allowed, typeOf(f)) {
			broken = append(broken, inFront(f, last.Name))
		}
		rest = rest[1:]
	}
	if len(rest) == 0 || rest[0].GetTypedConfig().GetTypeUrl() != last.GetTypedConfig().GetTypeUrl() {
		return append(broken, fmt.Sprintf("a filter chain does not end in %s", last.Name))
	}
	if isManager {
		return append(broken, brokenManager(last, rest[0], chain.HTTP)...)
	}
	return append(broken, brokenProxy(last, rest[0])...)
}

// inFront describes a filter that is added before a decision.
func inFront(f filter, name string) string {
	return fmt.Sprintf("the filter %s is before %s; add it after the permission filter", describe(f), name)
}

// brokenFilters compares the deciding filters of a chain with its filters after a change.
// It returns what is broken, and the filters after the last deciding one.
func brokenFilters[F filter](decide, after []F, inert []string) (broken []string, rest []F) {
	rest = after
	for _, f := range decide {
		at := slices.IndexFunc(rest, func(other F) bool { return sameFilter(f, other) })
		if at < 0 {
			if slices.ContainsFunc(after, func(other F) bool { return other.GetName() == f.GetName() }) {
				broken = append(broken, fmt.Sprintf("the filter %s is replaced or moved", nameOf(f)))
			} else {
				broken = append(broken, fmt.Sprintf("the filter %s is removed", nameOf(f)))
			}
			continue
		}
		for _, added := range rest[:at] {
			if !isPlain(added) || !slices.Contains(inert, typeOf(added)) {
				broken = append(broken, inFront(added, nameOf(f)))
			}
		}
		rest = rest[at+1:]
	}
	return broken, rest
}

// isPlain reports whether a filter consists of its name and its config only.
func isPlain(f filter) bool {
	m, ok := f.(*hcmv3.HttpFilter)
	return !ok || !m.IsOptional && m.GetConfigDiscovery() == nil
}

// sameFilter reports whether two filters of canonical messages are equal.
func sameFilter(a, b filter) bool { return proto.Equal(a, b) }

// typeOf returns the type of the config of a filter, "" if it has none.
func typeOf(f filter) string {
	_, name, _ := strings.Cut(f.GetTypedConfig().GetTypeUrl(), "/")
	return name
}

// describe returns the name and the type of a filter.
func describe(f filter) string {
	if t := typeOf(f); t != "" {
		return fmt.Sprintf("%s (%s)", nameOf(f), t)
	}
	return nameOf(f)
}

// nameOf returns the canonical name of a filter, which policies use.
func nameOf(f filter) string { return message.CanonicalName(f.GetName()) }

// brokenProxy compares the TCP proxies at the end of a chain. If a proxy connects before
// the decision, a denied client receives what the workload sends first (SPEC 7.5b).
func brokenProxy(before, after *listenerv3.Filter) []string {
	was, is := &tcpv3.TcpProxy{}, &tcpv3.TcpProxy{}
	if before.GetTypedConfig().UnmarshalTo(was) != nil || after.GetTypedConfig().UnmarshalTo(is) != nil {
		return []string{"the TCP proxy cannot be read"}
	}
	if was.UpstreamConnectMode != is.UpstreamConnectMode || !proto.Equal(was.MaxEarlyDataBytes, is.MaxEarlyDataBytes) {
		return []string{"the TCP proxy connects at another time: a denied client may receive what the workload sends first"}
	}
	return nil
}

// httpFilters returns the HTTP filters of a chain of network filters.
func httpFilters(chain []*listenerv3.Filter) []*hcmv3.HttpFilter {
	manager := &hcmv3.HttpConnectionManager{}
	if last := chain[len(chain)-1].GetTypedConfig(); !last.MessageIs(manager) || last.UnmarshalTo(manager) != nil {
		return nil
	}
	return manager.HttpFilters
}
