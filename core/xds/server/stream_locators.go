package server

import (
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// locateNames returns the resources that the parameters of the node choose for the
// names of a subscription (SPEC 9.6).
func (s *stream) locateNames(w *watch) []*wire.Resource {
	access := s.server.options.Access
	if access != nil && !access.Parameters(s.generation.state, &s.client, s.node.Parameters) {
		return nil
	}
	var want []*wire.Resource
	for _, name := range w.sub.names {
		if access != nil && !access.Name(s.generation.state, &s.client, name) {
			continue
		}
		if v, ok := s.generation.state.Locate(&s.node, w.t, name, s.node.Parameters); ok {
			want = append(want, v.Resource)
			s.known = true
		}
	}
	return want
}

// locate returns the variant that a locator chooses for the client.
func (s *stream) locate(t wire.Type, l *locator) (wire.Variant, Verdict) {
	if partial := s.generation.partial; partial != nil {
		p := l.parameters
		return partial.Answer(&s.client, &s.node, t, l.name, Parameters{p.values, p.key})
	}
	if !s.mayLocate(l) {
		return wire.Variant{}, Denied
	}
	v, ok := s.generation.state.Locate(&s.node, t, l.name, l.parameters.values)
	if !ok {
		return wire.Variant{}, Missing
	}
	return v, Found
}

// mayLocate reports whether the client may have what a locator chooses in the state.
func (s *stream) mayLocate(l *locator) bool {
	access := s.server.options.Access
	if access == nil {
		return true
	}
	state, p := s.generation.state, l.parameters
	if p.asked != s.generation.number {
		p.asked, p.allowed = s.generation.number, access.Parameters(state, &s.client, p.values)
	}
	return p.allowed && access.Name(state, &s.client, l.name)
}

// After yieldLocators locators, other long work goes first. A state may have to compute
// each of them.
const yieldLocators = 64

// A reach is which locators a change of the state can reach: the locators of some names, sorted, or
// all.
type reach struct {
	some  bool
	names []string
}

// reachSince returns which locators may choose otherwise in the generation of the stream than in an earlier one.
func (s *stream) reachSince(before *generation) reach {
	if before == nil || s.generation.variants == nil || !s.located.Load() {
		return reach{}
	}
	names, known := s.generation.variants.Relocated(&s.node, before.state)
	return reach{known, names}
}

// has reports whether the locators of a name are reached. It is called for sorted names.
func (r *reach) has(name string) bool {
	if !r.some {
		return true
	}
	for len(r.names) > 0 && r.names[0] < name {
		r.names = r.names[1:]
	}
	return len(r.names) > 0 && r.names[0] == name
}

// relocate computes what a watch wants by locator, of those that are reached.
func (s *stream) relocate(w *watch, reached reach) {
	changed, unknown := false, 0
	for i := range w.sub.locators {
		if l := &w.sub.locators[i]; !reached.has(l.name) && !l.unknown && s.mayLocate(l) != l.denied {
			continue
		}
		if i%yieldLocators == yieldLocators-1 {
			if s.conn.Context().Err() != nil {
				return // the client has gone
			}
			if s.gated.Load() > 0 {
				s.server.gate.yield()
			}
		}
		l := &w.sub.locators[i]
		v, verdict := s.locate(w.t, l)
		if verdict == Unknown {
			l.unknown = true
			unknown++
			continue
		}
		denied := verdict == Denied
		if l.unknown {
			l.unknown, l.chosen, l.denied, changed = false, v, denied, true
			w.learn(l)
		}
		if v != l.chosen || denied != l.denied {
			l.chosen, l.denied, changed = v, denied, true
		}
	}
	w.setUnknownLocators(unknown)
	if changed {
		w.choose()
	}
}
