package xdstest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// accept applies a response, answers it, and asks for what follows from it.
func (m *Model) accept(r Response, version string) {
	of := &m.types[r.Type]
	if of.responses++; of.responses == 1 {
		of.answered = time.Now()
	}
	if of.ignored = m.Program.IgnoresUnasked && len(of.names) == 0; of.ignored {
		return
	}
	nack := m.apply(of, r)
	of.nonce = r.Nonce
	if !m.Program.Delta && nack == "" {
		of.version = version
	}
	if m.wildcard(r.Type) && r.Type == wire.ClusterType && nack == "" {
		m.heldACK = true // whenWarm sends it
		m.follow()
		if endpoints := &m.types[wire.EndpointType]; !m.Program.Delta && endpoints.asked && len(endpoints.names) > 0 && of.replaced {
			m.send(modelRequest{t: wire.EndpointType}) // for the new cluster, although its name is subscribed
		}
		return
	}
	m.send(modelRequest{t: r.Type, nonce: r.Nonce, nack: nack})
	m.follow()
}

// apply changes what is held. It returns why something is rejected.
func (m *Model) apply(of *modelType, r Response) (nack string) {
	sent := map[string]bool{}
	of.replaced = false
	changed := of.responses == 1 || len(r.Removed) > 0
	for _, h := range r.Resources {
		sent[h.Name] = true
		if !m.wildcard(r.Type) && !of.names[h.Name] {
			continue // such as one that was unsubscribed while the response was on its way
		}
		if m.Reject != nil {
			if why := m.Reject(h); why != "" {
				nack = cmp.Or(nack, h.Name+": "+why)
				of.rejected[h.Name] = true
				if r.Type == wire.EndpointType {
					delete(m.warming, h.Name) // eds.cc, onConfigUpdateFailed: the cluster becomes active
				}
				continue
			}
		}
		before, had := of.held[h.Name]
		rejected := of.rejected[h.Name] // then the server cannot determine what is held
		delete(of.rejected, h.Name)
		delete(of.resumed, h.Name)
		changed = changed || !had || before.Body != h.Body || rejected
		if m.Program.Delta && had && before.Version == h.Version && m.wildcard(r.Type) && !rejected {
			m.problem("%s %s was sent again", r.Type, h.Name)
		}
		if had && before.Body != h.Body {
			of.replaced = true
			m.drain(r.Type, before)
		}
		of.held[h.Name] = h
		m.seen[Seen{r.Type, h.Name, h.Body}] = true
		switch {
		case m.Program.GRPC:
		case r.Type == wire.EndpointType:
			delete(m.warming, h.Name)
		case r.Type == wire.ClusterType && (!had || before.Body != h.Body):
			if delete(m.warming, h.Name); len(References(r.Type, h.Name, h.Body)) > 0 {
				m.warming[h.Name] = time.Now()
			}
		}
	}
	if r.Type == wire.ClusterType {
		for name, body := range m.unfilled {
			if h, ok := of.held[name]; !m.Program.Delta && (!sent[name] || ok && h.Body != body) {
				delete(m.unfilled, name)
			}
		}
	}
	for name := range of.rejected {
		if !sent[name] && !m.Program.Delta { // it was never held, but the server cannot determine that
			changed = true
			delete(of.rejected, name)
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
		before, had := of.held[name]
		if changed = changed || had; had {
			m.drain(r.Type, before)
			if m.wildcard(r.Type) {
				m.lost[Reference{r.Type, name}] = true
			}
			if m.isUsed(r.Type, name) && (r.Type != wire.ClusterType || strings.HasPrefix(name, "local/")) {
				m.early = append(m.early, fmt.Sprintf("%s %s was taken away, and connections can use it", r.Type, name))
			}
		}
		delete(of.held, name)
		if r.Type == wire.ClusterType || r.Type == wire.EndpointType {
			delete(m.warming, name) // a cluster without endpoints is active
		}
	}
	if m.wildcard(r.Type) && !changed && nack == "" && !of.waits["*"] { // an error is over
		m.problem("a response of %s changes nothing", r.Type)
	}
	of.waits = map[string]bool{}
	for name, code := range r.Errors {
		of.waits[name] = code == codes.Unavailable
	}
	return nack
}

// drain keeps what an old listener of an Envoy refers to until its connections have drained.
func (m *Model) drain(t wire.Type, before Held) {
	if t == wire.ListenerType && m.Drain > 0 && !m.Program.GRPC {
		m.draining = append(m.draining, draining{References(t, before.Name, before.Body), time.Now().Add(m.Drain), m.streams})
	}
}

// isUsed reports whether connections of a listener that drains can use a resource. In state of the world
// the server of a new stream cannot determine what drains, and it keeps nothing about a node that is
// gone. What a client names on a new stream stays for the drain time after the first answer (SPEC 12.3).
func (m *Model) isUsed(t wire.Type, name string) bool {
	if of := &m.types[t]; of.resumed[name] && (!m.Program.Delta || time.Since(of.answered) > m.Drain) {
		return false
	}
	return len(m.types[wire.ListenerType].held) > 0 && slices.ContainsFunc(m.draining, func(d draining) bool {
		return (m.Program.Delta || d.stream == m.streams) && time.Now().Before(d.until) && slices.Contains(d.references, Reference{t, name})
	})
}

// follow asks for what the resources that are held refer to.
func (m *Model) follow() {
	m.draining = slices.DeleteFunc(m.draining, func(d draining) bool { return !time.Now().Before(d.until) })
	if m.Program.GRPC {
		m.rename(wire.RouteType, m.references(wire.ListenerType, wire.RouteType))
		m.rename(wire.ClusterType, m.references(wire.RouteType, wire.ClusterType))
		m.rename(wire.EndpointType, m.references(wire.ClusterType, wire.EndpointType))
		return
	}
	m.rename(wire.EndpointType, m.references(wire.ClusterType, wire.EndpointType))
	for _, t := range []wire.Type{wire.RouteType, wire.ExtensionType} {
		names := m.references(wire.ListenerType, t)
		for _, d := range m.draining {
			addReferences(names, d.references, t)
		}
		m.rename(t, names)
	}
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
	case m.Program.KeepsLastName && len(names) == 0:
		of.names = names
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

// references returns the names of a type that the held resources of another type refer to.
func (m *Model) references(from, to wire.Type) map[string]bool {
	names := map[string]bool{}
	for name, h := range m.types[from].held {
		addReferences(names, References(from, name, h.Body), to)
	}
	return names
}

// addReferences adds the names of references of a type.
func addReferences(names map[string]bool, references []Reference, t wire.Type) {
	for _, r := range references {
		if r.Type == t {
			names[r.Name] = true
		}
	}
}

// whenWarm sends what waits for clusters.
func (m *Model) whenWarm() {
	clusters, listeners := &m.types[wire.ClusterType], &m.types[wire.ListenerType]
	switch {
	case m.Program.GRPC || len(m.warming) > 0:
		return
	case !clusters.asked:
		m.ask(wire.ClusterType)
	case m.heldACK:
		m.heldACK = false
		m.send(modelRequest{t: wire.ClusterType, nonce: clusters.nonce})
	}
	if !listeners.asked && clusters.responses > 0 {
		m.ask(wire.ListenerType)
	}
}

// giveUp makes the clusters active that have warmed for 15 s. That is a problem unless the next response
// no longer has such a cluster. This holds even for an Envoy that then uses the endpoints of the
// previous cluster: in state of the world, endpoints that do not exist are not answered, so a cluster
// that was removed meanwhile warms until then. It is no problem if the model had no server for the first
// 5 s, or if the server has nothing for the node yet.
func (m *Model) giveUp() {
	for name, since := range m.warming {
		if time.Since(since) < initialFetch {
			continue
		}
		delete(m.warming, name)
		if time.Since(m.began) >= initialFetch-5*time.Second && !m.types[wire.EndpointType].waits[name] {
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
	return slices.Concat(m.problems, m.early)
}

// Forgive forgets clusters that became active without endpoints, and what was taken away too early, such
// as while no server could be reached, or answered late.
func (m *Model) Forgive() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.unfilled)
	m.early = nil
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

// IsSilent reports whether the model has not answered the last response of a type.
func (m *Model) IsSilent() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.types[:], func(of modelType) bool { return of.ignored })
}

// Seen returns all that the model has held since the last call.
func (m *Model) Seen() map[Seen]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := m.seen
	m.seen = map[Seen]bool{}
	return seen
}

// Lost returns the clusters and listeners that an Envoy has lost since the last call.
func (m *Model) Lost() map[Reference]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	lost := m.lost
	m.lost = map[Reference]bool{}
	return lost
}

// Held returns what the model holds of a name.
func (m *Model) Held(t wire.Type, name string) Held {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.types[t].held[name]
}

// Responses returns how many responses of a type came on this stream.
func (m *Model) Responses(t wire.Type) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.types[t].responses
}

// Differences compares what the model holds with what it would hold if it began with a snapshot.
// It returns a line for each type that differs, and for each cluster that became active without being
// sent the endpoints that the snapshot has. What drains is left out.
func (m *Model) Differences(snapshot *wire.Snapshot) (out []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names [wire.NumTypes]map[string]bool
	for t := range names {
		names[t] = map[string]bool{}
	}
	for _, name := range m.services {
		names[wire.ListenerType][name] = m.Program.GRPC
	}
	for _, t := range []wire.Type{wire.ListenerType, wire.RouteType, wire.ExtensionType, wire.ClusterType, wire.EndpointType} {
		want, got := map[string]string{}, map[string]string{}
		for _, r := range slices.Concat(snapshot[t].Listed, snapshot[t].Named) {
			if m.wildcard(t) && slices.Contains(snapshot[t].Listed, r) || names[t][r.Name] {
				want[r.Name] = string(r.Append(nil))
				for _, to := range References(t, r.Name, want[r.Name]) {
					names[to.Type][to.Name] = true
				}
			}
		}
		for name, h := range m.types[t].held {
			if m.wildcard(t) || names[t][name] || !m.drains(t, name) {
				got[name] = h.Body
			}
		}
		if !maps.Equal(got, want) {
			out = append(out, fmt.Sprintf("%s: %s", t, strings.ReplaceAll(differenceOf(got, want), "\n", " ")))
		}
		for _, name := range slices.Sorted(maps.Keys(m.unfilled)) {
			if _, found := want[name]; found && t == wire.EndpointType {
				instead := "none"
				if m.Program.KeepsEndpoints {
					instead = "those of the previous cluster"
				}
				out = append(out, fmt.Sprintf("cluster %s has waited 15 s for its endpoints, and uses %s", name, instead))
			}
		}
	}
	return out
}

// drains reports whether a listener that drains refers to a resource.
func (m *Model) drains(t wire.Type, name string) bool {
	return slices.ContainsFunc(m.draining, func(d draining) bool { return slices.Contains(d.references, Reference{t, name}) })
}
