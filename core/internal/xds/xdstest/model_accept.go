package xdstest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// accept applies a response, answers it, and asks for what follows from it.
func (m *Model) accept(r Response, version string) {
	of := &m.types[r.Type]
	of.responses++
	m.apply(of, r)
	of.nonce = r.Nonce
	if !m.Program.Delta {
		of.version = version
	}
	if m.wildcard(r.Type) && r.Type == wire.ClusterType {
		m.heldACK = true // whenWarm sends it
		m.follow()
		return
	}
	m.send(modelRequest{t: r.Type, nonce: r.Nonce})
	m.follow()
}

// apply changes what is held.
func (m *Model) apply(of *modelType, r Response) {
	sent := map[string]bool{}
	changed := of.responses == 1 || len(r.Removed) > 0
	for _, h := range r.Resources {
		sent[h.Name] = true
		if !m.wildcard(r.Type) && !of.names[h.Name] {
			continue // such as one that was unsubscribed while the response was on its way
		}
		before, had := of.held[h.Name]
		changed = changed || !had || before.Body != h.Body
		if m.Program.Delta && had && before.Version == h.Version && m.wildcard(r.Type) {
			m.problem("%s %s was sent again", r.Type, h.Name)
		}
		of.held[h.Name] = h
		m.seen[Seen{r.Type, h.Name, h.Body}] = true
		switch {
		case m.Program.GRPC:
		case r.Type == wire.EndpointType:
			delete(m.warming, h.Name)
		case r.Type == wire.ClusterType && (!had || before.Body != h.Body):
			m.warming[h.Name] = time.Now()
		}
	}
	if r.Type == wire.ClusterType {
		for name, body := range m.unfilled {
			if h, ok := of.held[name]; !m.Program.Delta && (!sent[name] || ok && h.Body != body) {
				delete(m.unfilled, name)
			}
		}
	}
	gone := r.Removed
	if !m.Program.Delta && (r.Type == wire.ListenerType || r.Type == wire.ClusterType) {
		for name := range of.held {
			if !sent[name] {
				gone = append(gone, name)
			}
		}
	}
	for _, name := range gone {
		_, had := of.held[name]
		changed = changed || had
		delete(of.held, name)
		if r.Type == wire.ClusterType || r.Type == wire.EndpointType {
			delete(m.warming, name) // a cluster without endpoints is active
		}
	}
	if m.wildcard(r.Type) && !changed {
		m.problem("a response of %s changes nothing", r.Type)
	}
}

// follow asks for what the resources that are held refer to.
func (m *Model) follow() {
	if m.Program.GRPC {
		m.rename(wire.RouteType, m.references(wire.ListenerType))
		m.rename(wire.ClusterType, m.references(wire.RouteType))
		m.rename(wire.EndpointType, m.references(wire.ClusterType))
		return
	}
	m.rename(wire.EndpointType, m.references(wire.ClusterType))
	m.rename(wire.RouteType, m.references(wire.ListenerType))
}

// rename makes names the subscription of a type.
func (m *Model) rename(t wire.Type, names map[string]bool) {
	of := &m.types[t]
	var come, leave []string
	for name := range names {
		if !of.names[name] {
			come = append(come, name)
		}
	}
	for name := range of.names {
		if !names[name] {
			leave = append(leave, name)
			delete(of.held, name)
		}
	}
	slices.Sort(come)
	slices.Sort(leave)
	send := func(r modelRequest) {
		if !of.asked {
			m.ask(t)
			return
		}
		m.send(r)
	}
	switch {
	case len(come)+len(leave) == 0:
	case m.Program.OneRequest:
		of.names = names
		send(modelRequest{t: t, subscribe: come, unsubscribe: leave})
	default:
		if len(come) > 0 {
			of.names = maps.Clone(of.names)
			for _, name := range come {
				of.names[name] = true
			}
			send(modelRequest{t: t, subscribe: come})
		}
		if of.names = names; len(leave) > 0 {
			send(modelRequest{t: t, unsubscribe: leave})
		}
	}
}

// references returns the names that the held resources of a type refer to.
func (m *Model) references(t wire.Type) map[string]bool {
	names := map[string]bool{}
	for name, h := range m.types[t].held {
		for _, to := range References(t, name, h.Body) {
			names[to] = true
		}
	}
	return names
}

// References returns the names of the next type that a resource refers to: routes of a listener,
// clusters of a route, endpoints of a cluster.
func References(t wire.Type, name, body string) (names []string) {
	switch t {
	case wire.ClusterType:
		return []string{name} // SPEC 11.4
	case wire.ListenerType:
		var l listenerv3.Listener
		var manager httpv3.HttpConnectionManager
		if proto.Unmarshal([]byte(body), &l) == nil && l.GetApiListener().GetApiListener().UnmarshalTo(&manager) == nil {
			return []string{manager.GetRds().GetRouteConfigName()}
		}
	case wire.RouteType:
		var c routev3.RouteConfiguration
		if proto.Unmarshal([]byte(body), &c) == nil {
			for _, host := range c.GetVirtualHosts() {
				for _, route := range host.GetRoutes() {
					names = append(names, route.GetRoute().GetCluster())
				}
			}
		}
	}
	return names
}

// whenWarm sends what waits for clusters.
func (m *Model) whenWarm() {
	clusters, listeners := &m.types[wire.ClusterType], &m.types[wire.ListenerType]
	switch {
	case m.Program.GRPC || len(m.warming) > 0:
		return
	case m.heldACK:
		m.heldACK = false
		m.send(modelRequest{t: wire.ClusterType, nonce: clusters.nonce})
	}
	if !listeners.asked && clusters.responses > 0 {
		m.ask(wire.ListenerType)
	}
}

// giveUp makes the clusters active that have warmed for 15 s. That is a problem unless the next
// response no longer has such a cluster: in state of the world, endpoints that do not exist are not
// answered, so a cluster that was removed meanwhile warms until then.
func (m *Model) giveUp() {
	for name, since := range m.warming {
		if time.Since(since) < initialFetch {
			continue
		}
		delete(m.warming, name)
		if _, kept := m.types[wire.EndpointType].held[name]; !kept || !m.Program.KeepsEndpoints {
			m.unfilled[name] = m.types[wire.ClusterType].held[name].Body
		}
	}
}

func (m *Model) problem(format string, arguments ...any) {
	m.problems = append(m.problems, fmt.Sprintf(format, arguments...))
}

// Problems returns what went wrong since the model began.
func (m *Model) Problems() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	problems := slices.Clone(m.problems)
	for _, name := range slices.Sorted(maps.Keys(m.unfilled)) {
		problems = append(problems, fmt.Sprintf("cluster %s became active without endpoints", name))
	}
	return problems
}

// Warming returns the clusters that wait for their endpoints. In state of the world they may be
// clusters that are gone: the model cannot learn it before they are warm, so it returns none.
func (m *Model) Warming() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.Program.Delta {
		return nil
	}
	return slices.Sorted(maps.Keys(m.warming))
}

// Seen returns all that the model has ever held.
func (m *Model) Seen() map[Seen]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.seen)
}

// Responses returns how many responses of a type came on this stream.
func (m *Model) Responses(t wire.Type) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.types[t].responses
}

// Differences compares what the model holds with what it would hold if it began with a snapshot.
// It returns a line for each type that differs.
func (m *Model) Differences(snapshot *wire.Snapshot) (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var want [wire.NumTypes]map[string]string
	names := map[string]bool{}
	for _, name := range m.services {
		names[name] = true
	}
	types := []wire.Type{wire.ListenerType, wire.RouteType, wire.ClusterType, wire.EndpointType}
	for _, t := range types {
		want[t] = map[string]string{}
		next := map[string]bool{}
		for _, r := range slices.Concat(snapshot[t].Listed, snapshot[t].Named) {
			if m.wildcard(t) || names[r.Name] {
				want[t][r.Name] = string(r.Append(nil))
				for _, to := range References(t, r.Name, want[t][r.Name]) {
					next[to] = true
				}
			}
		}
		names = next
		got := map[string]string{}
		for name, h := range m.types[t].held {
			got[name] = h.Body
		}
		if !maps.Equal(got, want[t]) {
			out = append(out, fmt.Sprintf("%s: %s", t, strings.ReplaceAll(differenceOf(got, want[t]), "\n", " ")))
		}
	}
	return out
}
