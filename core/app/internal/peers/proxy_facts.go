package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matchingv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/matching/v3"
	compositev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/composite/v3"
	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
)

// A resourceSet is the resources of one proxy by their names.
type resourceSet struct {
	listeners []*listenerv3.Listener
	clusters  map[string]*clusterv3.Cluster
	endpoints map[string]*endpointv3.ClusterLoadAssignment
	routes    map[string]*routev3.RouteConfiguration
}

// proxyFacts returns what the resources of a proxy mean. The form is equal for control
// planes that name and divide their resources in different ways. There is a line for each
// listener: its address, what it does with traffic, and where that goes.
//
// It has the timeouts, rate limits, clusters and endpoints. It has nothing that only one of the
// control planes sets: statistics, metadata, headers for tags, options of paths.
func proxyFacts(all []proto.Message) (string, error) {
	set := resourceSet{
		clusters:  map[string]*clusterv3.Cluster{},
		endpoints: map[string]*endpointv3.ClusterLoadAssignment{},
		routes:    map[string]*routev3.RouteConfiguration{},
	}
	for _, m := range all {
		switch m := m.(type) {
		case *listenerv3.Listener:
			set.listeners = append(set.listeners, m)
		case *clusterv3.Cluster:
			set.clusters[m.Name] = m
		case *endpointv3.ClusterLoadAssignment:
			set.endpoints[m.ClusterName] = m
		case *routev3.RouteConfiguration:
			set.routes[m.Name] = m
		default:
			return "", fmt.Errorf("a resource of the type %T", m)
		}
	}
	var lines []string
	for _, l := range set.listeners {
		line, err := set.listener(l)
		if err != nil {
			return "", fmt.Errorf("listener %s: %w", l.Name, err)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n"), nil
}

func (s *resourceSet) listener(l *listenerv3.Listener) (string, error) {
	outbound := l.TrafficDirection == corev3.TrafficDirection_OUTBOUND
	facts := []string{l.TrafficDirection.String(), address(l.Address)}
	for _, chain := range l.FilterChains {
		for _, filter := range chain.Filters {
			config, err := filter.GetTypedConfig().UnmarshalNew()
			if err != nil {
				return "", err
			}
			more, err := s.filter(config, outbound)
			if err != nil {
				return "", err
			}
			facts = append(facts, more...)
		}
	}
	return strings.Join(facts, "; "), nil
}

// filter returns the facts of the last filter of a chain.
func (s *resourceSet) filter(config proto.Message, outbound bool) ([]string, error) {
	switch config := config.(type) {
	case *hcmv3.HttpConnectionManager:
		var facts []string
		if !outbound {
			facts = append(facts, "http idle "+seconds(config.StreamIdleTimeout)+" "+seconds(config.CommonHttpProtocolOptions.GetIdleTimeout()))
		}
		routes := config.GetRouteConfig()
		if name := config.GetRds().GetRouteConfigName(); name != "" {
			routes = s.routes[name]
		}
		for _, host := range routes.GetVirtualHosts() {
			for _, r := range host.Routes {
				route, err := s.route(r, host, outbound)
				if err != nil {
					return nil, err
				}
				facts = append(facts, route)
			}
		}
		return facts, nil
	case *tcpv3.TcpProxy:
		cluster, err := s.cluster(config.GetCluster(), 0, outbound)
		return []string{"tcp idle " + seconds(config.IdleTimeout), cluster}, err
	}
	return nil, fmt.Errorf("a filter of the type %T", config)
}

func (s *resourceSet) route(r *routev3.Route, host *routev3.VirtualHost, outbound bool) (string, error) {
	action := r.GetRoute()
	cluster, err := s.cluster(action.GetCluster(), action.GetMaxStreamDuration().GetMaxStreamDuration().AsDuration(), outbound)
	if err != nil {
		return "", err
	}
	const filter = "envoy.filters.http.local_ratelimit"
	limit, err := rateLimit(cmp.Or(r.TypedPerFilterConfig[filter], host.TypedPerFilterConfig[filter]))
	if err != nil {
		return "", err
	}
	facts := fmt.Sprintf("prefix %s, timeout %s%s, %s", r.GetMatch().GetPrefix(), seconds(action.GetTimeout()), limit, cluster)
	if outbound { // an inbound has it in its listener, or there too
		facts = "idle " + seconds(action.GetIdleTimeout()) + ", " + facts
	}
	return facts, nil
}

// cluster returns the timeouts and endpoints of a cluster. The cluster of an outbound is named
// MESH/SERVICE or SERVICE; the endpoints of inbounds are not compared. The longest duration of
// a stream may be in the route.
func (s *resourceSet) cluster(name string, longest time.Duration, outbound bool) (string, error) {
	c := s.clusters[name]
	if c == nil {
		return "", fmt.Errorf("there is no cluster %q", name)
	}
	facts := "connect " + seconds(c.ConnectTimeout)
	if options := c.TypedExtensionProtocolOptions["envoy.extensions.upstreams.http.v3.HttpProtocolOptions"]; options != nil {
		var http httpv3.HttpProtocolOptions
		if err := options.UnmarshalTo(&http); err != nil {
			return "", err
		}
		common := http.CommonHttpProtocolOptions
		facts += fmt.Sprintf(", idle %s, connection %s, stream %v", seconds(common.GetIdleTimeout()),
			seconds(common.GetMaxConnectionDuration()), cmp.Or(longest, common.GetMaxStreamDuration().AsDuration()))
	}
	if !outbound {
		return facts, nil
	}
	return fmt.Sprintf("cluster %s %s at %s", name[strings.LastIndexByte(name, '/')+1:], facts, s.addresses(name)), nil
}

func (s *resourceSet) addresses(cluster string) []string {
	var list []string
	for _, locality := range s.endpoints[cluster].GetEndpoints() {
		for _, e := range locality.LbEndpoints {
			list = append(list, address(e.GetEndpoint().GetAddress()))
		}
	}
	slices.Sort(list)
	return list
}

// rateLimit returns the token bucket of the configuration of a route's filter, which may be
// inside of a matcher that has no conditions.
func rateLimit(config *anypb.Any) (string, error) {
	if config == nil {
		return "", nil
	}
	m, err := config.UnmarshalNew()
	if err != nil {
		return "", err
	}
	switch m := m.(type) {
	case *matchingv3.ExtensionWithMatcherPerRoute:
		return rateLimit(m.GetXdsMatcher().GetOnNoMatch().GetAction().GetTypedConfig())
	case *compositev3.ExecuteFilterAction:
		return rateLimit(m.GetTypedConfig().GetTypedConfig())
	case *ratelimitv3.LocalRateLimit:
		b := m.GetTokenBucket()
		return fmt.Sprintf(", at most %d, then %d in %s, else %d", b.GetMaxTokens(), b.GetTokensPerFill().GetValue(), seconds(b.GetFillInterval()), m.GetStatus().GetCode()), nil
	}
	return "", fmt.Errorf("a rate limit of the type %T", m)
}

func address(a *corev3.Address) string {
	return fmt.Sprintf("%s:%d", a.GetSocketAddress().GetAddress(), a.GetSocketAddress().GetPortValue())
}

// seconds returns a duration; none is 0 s.
func seconds(d *durationpb.Duration) string { return d.AsDuration().String() }
