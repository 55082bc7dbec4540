package naive

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/meshmatch/meshmatch/core/resource"
)

// This file implements what the mesh gives to the proxy of a dataplane in Kuma's semantics
// (SPEC 17.3). It replaces or extends what the dataplane's document has.

// proxy returns the dataplane as its proxy is configured.
func (m *mesh) proxy(dp *resource.Dataplane) *resource.Dataplane {
	proxy := *dp
	if !m.kumaLike() {
		proxy.Listeners = nil // without zones
		return &proxy
	}
	proxy.Outbounds = nil
	if m.semantics == "kuma" && m.transparent(dp) {
		proxy.Outbounds = m.virtualOutbounds(dp)
	}
	for _, out := range dp.Outbounds {
		listed := m.semantics == "kuma" && !m.transparent(dp)
		if out.Backend != nil || listed {
			proxy.Outbounds = append(proxy.Outbounds, out)
		}
	}
	proxy.Inbounds = nil
	for _, in := range dp.Inbounds {
		if m.kuma3() && in.Protocol == "" {
			in.Protocol = "tcp" // a tag gives no protocol
		}
		proxy.Inbounds = append(proxy.Inbounds, in)
	}
	if dp.Gateway != nil && dp.Gateway.Builtin && m.semantics == "kuma" {
		gateway := *dp.Gateway
		gateway.MeshGateway = m.gatewayOf(dp)
		proxy.Gateway = &gateway
	}
	return &proxy
}

// virtualOutbounds returns the outbounds of service tags at virtual addresses.
func (m *mesh) virtualOutbounds(dp *resource.Dataplane) []resource.Outbound {
	var list []resource.Outbound
	if m.document != nil && m.document.Spec.MeshServices != nil && m.document.Spec.MeshServices.Mode == "Exclusive" {
		return nil
	}
	add := func(address string, port uint32, tags resource.Tags) {
		service, _ := lookup(tags, "kuma.io/service")
		reached := dp.TransparentProxy == nil || len(dp.TransparentProxy.ReachableServices) == 0
		if !reached {
			for _, name := range dp.TransparentProxy.ReachableServices {
				reached = reached || name == service
			}
		}
		if reached && !servesAt(dp, address, port) {
			list = append(list, resource.Outbound{Address: address, Port: port, Tags: tags})
		}
	}
	for _, addresses := range m.virtual {
		for _, host := range addresses.Spec.Config { // sorted by type and name
			at80 := false
			for _, out := range host.Outbounds {
				at80 = at80 || out.Port == 80
				if host.Address != "" {
					add(host.Address, out.Port, out.Tags)
				}
			}
			if host.Type == 0 && !at80 && host.Address != "" {
				add(host.Address, 80, resource.Tags{{Key: "kuma.io/service", Value: host.Name}})
			}
		}
	}
	return list
}

// gatewayOf returns the MeshGateway of a builtin gateway, or nil.
func (m *mesh) gatewayOf(dp *resource.Dataplane) *resource.MeshGateway {
	type candidate struct {
		gateway         *resource.MeshGateway
		tags, wildcards int
	}
	var candidates []candidate
	for _, gateway := range m.gateways {
		for _, selector := range gateway.Spec.Selectors {
			if !hold(selector.Match, dp.Gateway.Tags) {
				continue
			}
			c := candidate{gateway, len(selector.Match), 0}
			for _, tag := range selector.Match {
				if tag.Value == "*" {
					c.wildcards++
				}
			}
			candidates = append(candidates, c)
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	sort.SliceStable(candidates, func(i, j int) bool {
		a, b := candidates[i], candidates[j]
		switch {
		case a.tags != b.tags:
			return a.tags > b.tags
		case a.wildcards != b.wildcards:
			return a.wildcards < b.wildcards
		}
		return a.gateway.CreationTime.After(b.gateway.CreationTime)
	})
	return candidates[0].gateway
}

// gatewayListener is a listener of a MeshGateway.
type gatewayListener struct {
	Port               uint32
	Hostname, Protocol string
	Tags               resource.Tags
}

// listenersOf returns the listeners of a builtin gateway.
func listenersOf(dp *resource.Dataplane) []gatewayListener {
	if dp.Gateway == nil || dp.Gateway.MeshGateway == nil {
		return nil
	}
	var list []gatewayListener
	for _, l := range dp.Gateway.MeshGateway.Spec.Conf.Listeners {
		list = append(list, gatewayListener{l.Port, l.Hostname, string(l.Protocol), l.Tags})
	}
	return list
}

// listenerTags returns the tags of a listener, of its MeshGateway and of the dataplane: the
// first of them that has a tag gives its value.
func listenerTags(dp *resource.Dataplane, listener *gatewayListener) resource.Tags {
	var tags resource.Tags
	for _, source := range []resource.Tags{listener.Tags, dp.Gateway.MeshGateway.Spec.Tags, dp.Gateway.Tags} {
		for _, tag := range source {
			if _, present := lookup(tags, tag.Key); !present {
				tags = append(tags, tag)
			}
		}
	}
	return tags
}

func listenerName(listener *gatewayListener) string {
	if listener.Hostname == "" || listener.Hostname == "*" {
		return fmt.Sprint(listener.Port)
	}
	return fmt.Sprintf("%s:%d", listener.Hostname, listener.Port)
}

// selectsGateway implements a targetRef of kind MeshGateway: it selects the listeners of
// the MeshGateway of that display name that have the tags themselves.
func selectsGateway(ref *resource.TargetRef, dp *resource.Dataplane) selection {
	s := nothing(dp)
	if dp.Gateway == nil || dp.Gateway.MeshGateway == nil || displayName(&dp.Gateway.MeshGateway.Meta) != ref.Name {
		return s
	}
	for i, listener := range listenersOf(dp) {
		if hold(ref.Tags, listener.Tags) {
			s.listeners[i], s.selected = true, true
		}
	}
	return s
}

// describeGateway returns the part of an answer about the MeshGateway, or nil.
func (m *mesh) describeGateway(dp *resource.Dataplane) map[string]any {
	if dp.Gateway == nil || dp.Gateway.MeshGateway == nil {
		return nil
	}
	list := []any{}
	for i := range listenersOf(dp) {
		listener := &listenersOf(dp)[i]
		answer := describeListener(dp, listener)
		answer["protocol"] = listener.Protocol
		routes := []any{}
		for _, route := range m.gatewayRoutes { // sorted by identity
			for _, selector := range route.Spec.Selectors {
				if hold(selector.Match, listenerTags(dp, listener)) {
					routes = append(routes, m.kri("mgwr", &route.Meta))
					break
				}
			}
		}
		if len(routes) > 0 {
			answer["routes"] = routes
		}
		list = append(list, answer)
	}
	return map[string]any{"kri": m.kri("mgw", &dp.Gateway.MeshGateway.Meta), "listeners": list}
}

func describeListener(dp *resource.Dataplane, listener *gatewayListener) map[string]any {
	answer := map[string]any{"name": listenerName(listener), "port": int(listener.Port)}
	if listener.Hostname != "" {
		answer["hostname"] = listener.Hostname
	}
	addTags(answer, listenerTags(dp, listener))
	return answer
}

// gatewayListeners returns the confs of the listeners: by `to`, for each host name of
// routes, and the rules by `from` and `rules`.
func (m *mesh) gatewayListeners(kind *resource.Kind, policies []matched, dp *resource.Dataplane) []any {
	list := []any{}
	for number := range listenersOf(dp) {
		answer := map[string]any{"listener": describeListener(dp, &listenersOf(dp)[number])}
		items := m.toItems(policies, &traffic{listener: &listener{number: number}})
		if !isRouteKind(kind) && len(items) > 0 {
			to := map[string]any{}
			m.addConf(to, items)
			answer["to"] = to
		}
		hosts := []any{}
		for _, name := range hostNames(items) {
			if !isRouteKind(kind) || !sameHosts(name, listenersOf(dp)[number].Hostname) {
				continue
			}
			host := map[string]any{"hostname": name}
			m.addConf(host, m.toItems(policies, &traffic{listener: &listener{number, name}}))
			hosts = append(hosts, host)
		}
		if len(hosts) > 0 {
			answer["hosts"] = hosts
		}
		if kind.Name == "MeshTimeout" || kind.Name == "MeshAccessLog" {
			var onListener []*resource.Policy
			for _, p := range policies {
				if p.listeners[number] && !targetsRoute(p.Policy) {
					onListener = append(onListener, p.Policy)
				}
			}
			if rules := m.rules(onListener); len(rules) > 0 {
				answer["rules"] = rules
			}
		}
		list = append(list, answer)
	}
	return list
}

// hostNames returns the distinct host names of items of routes, sorted; an item without
// one has the name *.
func hostNames(items []item) []string {
	names := []string{}
	for _, i := range items {
		listed, _ := toJSON(i.conf).(map[string]any)["hostnames"].([]any)
		for _, name := range listed {
			names = append(names, name.(string))
		}
		if len(listed) == 0 {
			names = append(names, "*")
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// sameHosts reports whether a host can have both names, which may begin with *.
func sameHosts(a, b string) bool {
	if a == "" || a == "*" || b == "" || b == "*" || a == b {
		return true
	}
	if strings.HasPrefix(a, "*.") && strings.HasSuffix(b, a[1:]) {
		return true
	}
	return strings.HasPrefix(b, "*.") && strings.HasSuffix(a, b[1:])
}
