package server

import (
	"cmp"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A composer makes the next response of a watch. Its memory is used again.
type composer struct {
	message message
	size    int
	limit   int
	cut     bool             // something did not fit
	changed []*wire.Resource // the additions that the client does not have yet, sorted
	owed    []wire.Variant
	// In state of the world, next and nextVariants are what the client holds after the
	// response, and repeated and repeatedVariants what miss adds of these.
	next             []*wire.Resource
	nextVariants     []wire.Variant
	repeated         []*wire.Resource
	repeatedVariants []wire.Variant
}

var composers = sync.Pool{New: func() any { return new(composer) }}

// leastErrors is the room for errors in a state-of-the-world response whose resources
// exceed the limit, because they cannot be split.
const leastErrors = 256 << 10

func (c *composer) reset(p protocol, url string) {
	c.message.reset(p, url)
	c.size, c.limit, c.cut = 0, MaxResponseBytes, false
	c.next, c.nextVariants = nil, nil
	clear(c.changed)
	c.changed = c.changed[:0]
	clear(c.repeated)
	clear(c.repeatedVariants)
	c.repeated, c.repeatedVariants = c.repeated[:0], c.repeatedVariants[:0]
}

// fits adds the size of an element and reports whether the response has room for it. The
// first element always fits. After one that does not fit, none does.
func (c *composer) fits(size int) bool {
	if c.cut {
		return false
	}
	if c.size > 0 && c.size+size > c.limit {
		c.cut = true
		return false
	}
	c.size += size
	return true
}

// compose returns the response with the additions, or the one with the removals, of
// a watch, and puts it in flight. It returns nil if no message is needed.
func (s *stream) compose(w *watch, removals bool, now int64) *response {
	c := composers.Get().(*composer)
	defer composers.Put(c)
	c.reset(s.protocol, w.t.URL())
	m := &c.message

	var next []*wire.Resource
	var nextVariants []wire.Variant
	switch {
	case s.protocol == stateOfTheWorld && full(w.t):
		next, nextVariants = c.state(w, removals)
	case removals:
		next, nextVariants = c.remove(s, w)
	default:
		next, nextVariants = c.add(w)
	}
	if s.protocol == stateOfTheWorld {
		c.next, c.nextVariants = next, nextVariants
	}
	if removals {
		c.gone(s, w, nextVariants)
		w.removalsSince = 0
	} else {
		c.answerNames(s, w)
		if len(m.removed) > 0 {
			next = without(next, func(r *wire.Resource) bool { return isMissing(m, r.Name) })
		}
		c.answerLocators(s, w)
		c.announce(s, w)
		w.owed.answer = c.cut || w.owesUnknown()
		if w.t == wire.ClusterType {
			s.warm(c.changed)
		}
	}
	if s.protocol == stateOfTheWorld {
		c.repeat()
		if removals && !full(w.t) && len(m.failures) == 0 { // it has no removals
			w.held, w.heldVariants = next, nextVariants
			w.touch()
			return nil
		}
		m.version = s.generation.bodies.version(next, nextVariants)
	}

	g := s.generation
	var before *lateFlight
	if w.flight.late {
		before = &lateFlight{w.nonce, w.flight.message}
	}
	s.responses++
	w.nonce = s.responses
	w.answered = true
	b := g.bodies.get(m)
	w.flight = flight{message: b.message, at: now, before: before, next: next, nextVariants: nextVariants}
	since := w.changed
	if !c.cut && !w.removals && !w.isStaged() {
		w.changed = nil
	}
	w.touch()
	return newResponse(b, newNonce(s.id, w.nonce), since)
}

// add composes what is owed, and what is wanted and not held, until the response is full.
func (c *composer) add(w *watch) ([]*wire.Resource, []wire.Variant) {
	m, wanted := &c.message, w.wanted()
	all := true // the client holds what is wanted then, and nothing else
	differences(wanted, w.held, func(want, held *wire.Resource) bool {
		switch {
		case want == nil:
			all = false
		case held != nil && same(want, held):
		case c.fits(elementSize(m.protocol, want)):
			c.changed = append(c.changed, want)
		default:
			all = false
		}
		return true
	})
	m.resources = append(m.resources, c.changed...)
	if len(w.owed.names) > 0 {
		for _, name := range w.owed.names {
			r := find(wanted, name)
			if r != nil && r.Body != nil && find(c.changed, name) == nil && c.fits(elementSize(m.protocol, r)) {
				m.resources = append(m.resources, r)
			}
		}
		sortResources(m.resources)
	}
	next := wanted
	if !all {
		next = c.heldAfter(w)
	}
	return next, c.addVariants(w)
}

// heldAfter returns what the client holds after the additions of the message.
func (c *composer) heldAfter(w *watch) []*wire.Resource {
	next := make([]*wire.Resource, 0, len(w.held)+len(c.message.resources))
	for held, added := range sorted.Join(w.held, c.message.resources, compareNames) {
		next = append(next, cmp.Or(added, held))
	}
	return next
}

// addVariants composes variants. The variants of a name are together with the
// removals that make way for them.
func (c *composer) addVariants(w *watch) []wire.Variant {
	want, held := w.wantVariants, w.heldVariants
	if len(want) == 0 && len(held) == 0 {
		return nil
	}
	m := &c.message
	c.owed = w.owedVariants(c.owed[:0])
	next := make([]wire.Variant, 0, max(len(want), len(held)))
	for len(want)+len(held) > 0 {
		var wanted, had []wire.Variant // of one name
		name := firstName(want, held)
		wanted, want = cutName(want, name)
		had, held = cutName(held, name)
		if len(wanted) == 0 {
			next = append(next, had...)
			continue
		}
		added, removed, size := len(m.variants), len(m.removedVariants), 0
		for _, v := range wanted {
			h, ok := findVariant(had, v)
			_, asked := findVariant(c.owed, v)
			if !ok || !same(h.Resource, v.Resource) || asked {
				m.variants = append(m.variants, v)
				size += variantSize(m.protocol, v)
			}
		}
		for _, h := range had {
			if _, ok := findVariant(wanted, h); !ok && m.protocol == delta {
				m.removedVariants = append(m.removedVariants, removedVariant{name, h.Constraints})
				size += field(resourceNameSize(name, h.Constraints))
			}
		}
		if size > 0 && !c.fits(size) {
			m.variants, m.removedVariants = m.variants[:added], m.removedVariants[:removed]
			wanted = had
		}
		next = append(next, wanted...)
	}
	return next
}

// firstName returns the first name in two sorted slices, at least one of them not empty.
func firstName(a, b []wire.Variant) string {
	if len(a) == 0 || len(b) > 0 && b[0].Resource.Name < a[0].Resource.Name {
		a = b
	}
	return a[0].Resource.Name
}

// cutName returns the variants of a name at the beginning of a sorted slice, and the
// rest.
func cutName(in []wire.Variant, name string) (of, rest []wire.Variant) {
	n := 0
	for n < len(in) && in[n].Resource.Name == name {
		n++
	}
	return in[:n], in[n:]
}

// remove composes what is held and not wanted, until the response is full. A node that is
// not known keeps its names.
func (c *composer) remove(s *stream, w *watch) ([]*wire.Resource, []wire.Variant) {
	m := &c.message
	var nextVariants []wire.Variant
	for _, h := range w.heldVariants {
		size := field(resourceNameSize(h.Resource.Name, h.Constraints))
		switch {
		case hasVariantOf(w.wantVariants, h.Resource.Name), !c.fits(size):
			nextVariants = append(nextVariants, h)
		case m.protocol == delta:
			m.removedVariants = append(m.removedVariants, removedVariant{h.Resource.Name, h.Constraints})
		}
	}
	if m.protocol == stateOfTheWorld {
		c.nextVariants = nextVariants
	}
	next := w.held
	if s.isKnown() {
		var rest *wire.Resource // the first that does not fit
		differences(w.want, w.held, func(want, held *wire.Resource) bool {
			if want == nil && !c.removeName(s, w, held.Name) {
				rest = held
			}
			return rest == nil
		})
		next = without(w.held, func(r *wire.Resource) bool {
			return (rest == nil || r.Name < rest.Name) && find(w.want, r.Name) == nil
		})
		if slices.Equal(next, w.want) {
			next = w.want
		}
	}
	return next, nextVariants
}

// removeName composes the removal of a name, with an error if the client subscribes to it
// by name, and reports whether it fits.
func (c *composer) removeName(s *stream, w *watch, name string) bool {
	m := &c.message
	switch {
	case w.sub.has(name):
		return c.miss(s.failure(name), ofName)
	case m.protocol == delta:
		if !c.fits(field(len(name))) {
			return false
		}
		m.removed = append(m.removed, name)
	}
	return true
}

// state composes all resources of a type: what is wanted, and before the removals
// what is held too (SPEC 12.3).
func (c *composer) state(w *watch, removals bool) ([]*wire.Resource, []wire.Variant) {
	m := &c.message
	m.resources = append(m.resources, w.want...)
	m.variants = append(m.variants, w.wantVariants...)
	defer c.allowErrors()
	if removals {
		return w.want, w.wantVariants
	}
	differences(w.want, w.held, func(want, held *wire.Resource) bool {
		switch {
		case want != nil && (held == nil || !same(want, held)):
			c.changed = append(c.changed, want)
		case want == nil && held.Body != nil:
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
	sortVariants(m.variants)
	return next, slices.Clone(m.variants)
}

// allowErrors counts the resources of the message, which are not split, and leaves room
// for errors.
func (c *composer) allowErrors() {
	m := &c.message
	for _, r := range m.resources {
		c.size += elementSize(m.protocol, r)
	}
	for _, v := range m.variants {
		c.size += variantSize(m.protocol, v)
	}
	c.limit = max(c.limit, c.size+leastErrors)
}

// owedVariants appends the variants that the client asked for, sorted.
func (w *watch) owedVariants(to []wire.Variant) []wire.Variant {
	for i := range w.sub.locators {
		if l := &w.sub.locators[i]; l.owed && l.chosen.Resource != nil {
			to = append(to, l.chosen)
		}
	}
	sortVariants(to)
	return to
}
