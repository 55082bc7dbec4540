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
	state, p := s.generation.state, l.parameters
	if partial := s.generation.partial; partial != nil {
		return partial.Answer(&s.client, &s.node, t, l.name, Parameters{p.values, p.key})
	}
	if access := s.server.options.Access; access != nil {
		if p.asked != s.generation.number {
			p.asked, p.allowed = s.generation.number, access.Parameters(state, &s.client, p.values)
		}
		if !p.allowed || !access.Name(state, &s.client, l.name) {
			return wire.Variant{}, Denied
		}
	}
	v, ok := state.Locate(&s.node, t, l.name, p.values)
	if !ok {
		return wire.Variant{}, Missing
	}
	return v, Found
}

// After yieldLocators locators, other long work goes first. A state may have to compute
// each of them.
const yieldLocators = 64

// relocate computes what a watch wants by locator.
func (s *stream) relocate(w *watch) {
	changed, unknown := false, 0
	for i := range w.sub.locators {
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
