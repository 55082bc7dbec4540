package server

import (
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A composer makes the next response of a watch. Its memory is used again.
type composer struct {
	message message
	size    int
	cut     bool // something did not fit
	owed    []wire.Variant
}

var composers = sync.Pool{New: func() any { return new(composer) }}

// fits adds the size of an element and reports whether the response may have it. A
// response has at least one element.
func (c *composer) fits(size int) bool {
	if c.cut {
		return false
	}
	if c.size > 0 && c.size+size > MaxResponseBytes {
		c.cut = true
		return false
	}
	c.size += size
	return true
}

// compose returns the response with the additions, or the one with the removals, of
// a watch, and puts it in flight. It returns nil if no message is needed.
func (s *stream) compose(w *watch, removals bool) *response {
	c := composers.Get().(*composer)
	defer composers.Put(c)
	m := &c.message
	m.reset(s.protocol, w.t.URL())
	c.size, c.cut = 0, false

	var next []*wire.Resource
	var nextVariants []wire.Variant
	switch {
	case s.protocol == stateOfTheWorld && full(w.t):
		next, nextVariants = c.state(w, removals)
	case removals:
		next, nextVariants = c.remove(w, s.known)
	default:
		next, nextVariants = c.add(w)
	}
	if removals {
		s.gone(w, m)
		w.removalsSince = 0
	} else {
		c.answerNames(s, w)
		if !c.cut && len(m.removed) > 0 {
			next = without(next, func(r *wire.Resource) bool { return isMissing(m, r.Name) })
		}
		c.answerLocators(s, w)
		s.announce(w, m)
		w.owed.answer = c.cut
		if w.t == wire.ClusterType {
			s.warm(w, m)
		}
	}
	if s.protocol == stateOfTheWorld {
		c.repeat(next, nextVariants)
		if removals && !full(w.t) && m.empty() {
			w.held, w.heldVariants = next, nextVariants
			w.touch()
			return nil
		}
		m.version = s.generation.bodies.version(next, nextVariants)
	}

	g := s.generation
	s.responses++
	w.nonce = s.responses
	w.answered = true
	w.flight = flight{body: g.bodies.get(m), at: s.server.now(), next: next, nextVariants: nextVariants}
	since := w.changed
	if !c.cut && !w.removals {
		w.changed = nil
	}
	w.touch()
	return newResponse(w.flight.body, newNonce(s.id, w.nonce), since)
}

// add composes what is wanted and not held, or owed, in as far as it fits.
func (c *composer) add(w *watch) ([]*wire.Resource, []wire.Variant) {
	m := &c.message
	all := true // the client holds what is wanted then, and nothing else
	differences(w.want, w.held, func(want, held *wire.Resource) bool {
		switch {
		case want == nil:
			all = false
		case held != nil && same(want, held):
		case c.fits(elementSize(m.protocol, want)):
			m.resources = append(m.resources, want)
		default:
			all = false
		}
		return true
	})
	if different := m.resources; len(w.owed.names) > 0 {
		for _, name := range w.owed.names {
			r := find(w.want, name)
			if r != nil && find(different, name) == nil && c.fits(elementSize(m.protocol, r)) {
				m.resources = append(m.resources, r)
			}
		}
		sortResources(m.resources)
	}
	next := w.want
	if !all {
		next = c.heldAfter(w)
	}
	return next, c.addVariants(w)
}

// heldAfter returns what the client holds after the additions of the message.
func (c *composer) heldAfter(w *watch) []*wire.Resource {
	next := slices.Clone(w.held)
	for _, r := range c.message.resources {
		if at := searchResource(next, r.Name); at < len(next) && next[at].Name == r.Name {
			next[at] = r
		} else {
			next = slices.Insert(next, at, r)
		}
	}
	return next
}

// addVariants composes variants, those of a name together with the removals that
// make way for them.
func (c *composer) addVariants(w *watch) []wire.Variant {
	if len(w.wantVariants) == 0 && len(w.heldVariants) == 0 {
		return nil
	}
	m := &c.message
	owed := w.owedVariants(c.owed[:0])
	c.owed = owed
	var next []wire.Variant
	for i := 0; i < len(w.wantVariants); {
		name := w.wantVariants[i].Resource.Name
		first, size := len(m.variants), 0
		for ; i < len(w.wantVariants) && w.wantVariants[i].Resource.Name == name; i++ {
			v := w.wantVariants[i]
			held, ok := findVariant(w.heldVariants, v)
			_, asked := findVariant(owed, v)
			if !ok || !same(held.Resource, v.Resource) || asked {
				m.variants = append(m.variants, v)
				size += variantSize(m.protocol, v)
			}
			next = append(next, v)
		}
		if size > 0 && !c.fits(size) {
			m.variants = m.variants[:first]
			next = slices.DeleteFunc(next, func(v wire.Variant) bool { return v.Resource.Name == name })
			next = appendVariantsOf(next, w.heldVariants, name)
			continue
		}
		for _, h := range w.heldVariants {
			if _, ok := findVariant(w.wantVariants, h); h.Resource.Name == name && !ok && m.protocol == delta {
				m.removedVariants = append(m.removedVariants, removedVariant{name, h.Constraints})
			}
		}
	}
	for _, h := range w.heldVariants {
		if !hasVariantOf(w.wantVariants, h.Resource.Name) {
			next = append(next, h)
		}
	}
	slices.SortFunc(next, compareVariants)
	return next
}

// remove composes what is held and not wanted. A node that is not known keeps its
// names.
func (c *composer) remove(w *watch, known bool) ([]*wire.Resource, []wire.Variant) {
	m := &c.message
	next := w.held
	if known {
		next = without(w.held, func(r *wire.Resource) bool { return find(w.want, r.Name) == nil })
		if slices.Equal(next, w.want) {
			next = w.want
		}
	}
	if known && m.protocol == delta {
		differences(w.want, w.held, func(want, held *wire.Resource) bool {
			if want == nil {
				m.removed = append(m.removed, held.Name)
			}
			return true
		})
	}
	var nextVariants []wire.Variant
	for _, h := range w.heldVariants {
		if hasVariantOf(w.wantVariants, h.Resource.Name) {
			nextVariants = append(nextVariants, h)
		} else if m.protocol == delta {
			m.removedVariants = append(m.removedVariants, removedVariant{h.Resource.Name, h.Constraints})
		}
	}
	return next, nextVariants
}

// state composes all resources of a type: what is wanted, and before the removals
// what is held too (SPEC 12.3).
func (c *composer) state(w *watch, removals bool) ([]*wire.Resource, []wire.Variant) {
	m := &c.message
	m.resources = append(m.resources, w.want...)
	m.variants = append(m.variants, w.wantVariants...)
	if removals {
		return w.want, w.wantVariants
	}
	differences(w.want, w.held, func(want, held *wire.Resource) bool {
		if want == nil && held.Body != nil {
			m.resources = append(m.resources, held)
		}
		return true
	})
	next := w.want
	if len(m.resources) > len(w.want) {
		sortResources(m.resources)
		next = slices.Clone(m.resources)
	}
	for _, h := range w.heldVariants {
		if !hasVariantOf(w.wantVariants, h.Resource.Name) {
			m.variants = append(m.variants, h)
		}
	}
	slices.SortFunc(m.variants, compareVariants)
	return next, slices.Clone(m.variants)
}

// repeat adds what the client holds of the names that the message has an error of. In
// state of the world an error does not distinguish a name and its variants: a client
// that subscribes both drops both, and then takes what is in the response.
func (c *composer) repeat(held []*wire.Resource, variants []wire.Variant) {
	m := &c.message
	for _, f := range m.failures {
		if r := find(held, f.name); r != nil && find(m.resources, f.name) == nil {
			m.resources = append(m.resources, r)
			sortResources(m.resources)
		}
		for _, v := range variants {
			if v.Resource.Name == f.name && !slices.ContainsFunc(m.variants, func(o wire.Variant) bool { return compareVariants(o, v) == 0 }) {
				m.variants = append(m.variants, v)
			}
		}
	}
	slices.SortFunc(m.variants, compareVariants)
}

// owedVariants appends the variants that the client asked for, sorted.
func (w *watch) owedVariants(to []wire.Variant) []wire.Variant {
	for i := range w.sub.locators {
		if l := &w.sub.locators[i]; l.owed && l.chosen.Resource != nil {
			to = append(to, l.chosen)
		}
	}
	slices.SortFunc(to, compareVariants)
	return to
}

func appendVariantsOf(to, from []wire.Variant, name string) []wire.Variant {
	for _, v := range from {
		if v.Resource.Name == name {
			to = append(to, v)
		}
	}
	return to
}
