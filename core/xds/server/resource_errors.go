package server

import (
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A removal is what a response removes with an error, in delta.
type removal uint8

const (
	nothing removal = iota // the client keeps the name
	ofName
	ofVariants
)

// miss composes that a name is missing: an error, a removal and what is repeated. It reports
// whether that fits. In state of the world an error does
// not distinguish a name and its variants: a client that subscribes both drops both, and
// then takes what is in the response. So the response repeats what the client holds.
func (c *composer) miss(f failure, remove removal) bool {
	m := &c.message
	if m.protocol == stateOfTheWorld {
		remove = nothing
	}
	size := failureSize(f) + c.repeatSize(f.name)
	if remove != nothing {
		size += field(resourceNameSize(f.name, ""))
	}
	if !c.fits(size) {
		return false
	}
	m.failures = append(m.failures, f)
	switch remove {
	case ofName:
		m.removed = append(m.removed, f.name)
	case ofVariants:
		m.removedVariants = append(m.removedVariants, removedVariant{name: f.name})
	}
	if m.protocol == delta {
		return true
	}
	if r := find(c.next, f.name); r != nil && find(m.resources, f.name) == nil {
		c.repeated = append(c.repeated, r)
	}
	for _, v := range variantsOf(c.nextVariants, f.name) {
		if _, sent := findVariant(m.variants, v); !sent {
			c.repeatedVariants = append(c.repeatedVariants, v)
		}
	}
	return true
}

// repeatSize returns the size of what an error of a name repeats, at most.
func (c *composer) repeatSize(name string) (size int) {
	if c.message.protocol == delta {
		return 0
	}
	if r := find(c.next, name); r != nil {
		size += elementSize(stateOfTheWorld, r)
	}
	for _, v := range variantsOf(c.nextVariants, name) {
		size += variantSize(stateOfTheWorld, v)
	}
	return size
}

// repeat adds what errors repeat to the message. A name may have two errors: by itself
// and by a locator.
func (c *composer) repeat() {
	m := &c.message
	if len(c.repeated) > 0 {
		m.resources = append(m.resources, c.repeated...)
		sortResources(m.resources)
		m.resources = slices.Compact(m.resources)
	}
	if len(c.repeatedVariants) > 0 {
		m.variants = append(m.variants, c.repeatedVariants...)
		sortVariants(m.variants)
		m.variants = slices.Compact(m.variants)
	}
}

// answerNames composes the names that the client asked for and that do not exist,
// and keeps as owed those that did not fit.
func (c *composer) answerNames(s *stream, w *watch) {
	if len(w.owed.names) == 0 {
		return
	}
	rest := w.owed.names[:0]
	for _, name := range w.owed.names {
		done := true
		switch {
		case w.isUnknown(name):
			done = false
		case find(c.message.resources, name) != nil:
		case find(w.want, name) != nil:
			done = !c.cut
		case s.isWaiting() || !s.isKnown() && find(w.held, name) != nil:
			done = c.miss(s.failure(name), nothing) // the client keeps what it has
		default:
			done = c.miss(s.failure(name), ofName)
		}
		if !done {
			rest = append(rest, name)
		}
	}
	if w.owed.names = rest; len(rest) == 0 {
		w.owed.names = nil
	}
}

// isMissing reports whether the message has the removal of a name.
func isMissing(m *message, name string) bool {
	_, found := slices.BinarySearch(m.removed, name)
	return found
}

// answerLocators is answerNames for locators. Those of one name have one error.
func (c *composer) answerLocators(s *stream, w *watch) {
	m := &c.message
	first := len(m.failures)
	for i := range w.sub.locators {
		l := &w.sub.locators[i]
		if !l.owed {
			continue
		}
		if l.chosen.Resource != nil {
			_, sent := findVariant(m.variants, l.chosen)
			l.owed = (c.cut || l.kept) && !sent
			continue
		}
		if l.unknown || l.kept {
			continue
		}
		f := failureOf(l)
		l.owed = !slices.Contains(lastTwo(m.failures[first:]), f) && !c.miss(f, ofVariants)
	}
}

// lastTwo returns the last errors. Locators are sorted by name, and locators of one name
// have at most two errors: one of them denies.
func lastTwo(failures []failure) []failure { return failures[max(0, len(failures)-2):] }

// gone composes the errors of the locators that had a variant and have none now and, in a
// full state, the errors of names. What does not fit is owed. The variants are what the
// client holds after the response.
func (c *composer) gone(s *stream, w *watch, nextVariants []wire.Variant) {
	if s.protocol == stateOfTheWorld && full(w.t) && s.isKnown() {
		var rest []string
		differences(w.want, w.held, func(want, held *wire.Resource) bool {
			if want == nil && w.sub.has(held.Name) && !c.miss(s.failure(held.Name), ofName) {
				rest = append(rest, held.Name)
			}
			return true
		})
		if len(rest) > 0 {
			w.owe(rest)
		}
	}
	first := len(c.message.failures)
	for i := range w.sub.locators {
		l := &w.sub.locators[i]
		if l.chosen.Resource != nil || l.unknown || l.kept || !hasVariantOf(w.heldVariants, l.name) {
			continue
		}
		if !hasVariantOf(w.wantVariants, l.name) && hasVariantOf(nextVariants, l.name) {
			continue // its removal did not fit
		}
		f := failureOf(l)
		if !slices.Contains(lastTwo(c.message.failures[first:]), f) && !c.miss(f, nothing) {
			l.owed, w.owed.answer = true, true
		}
	}
	c.announce(s, w)
}

// announce composes the error of a wildcard of a node that is no dataplane.
func (c *composer) announce(s *stream, w *watch) {
	if w.sub.all && s.node.ID != "" && s.snapshot == nil && !s.unresolved {
		c.message.failures = append(c.message.failures, s.failure(wildcard))
	}
}

// isWaiting reports whether the node of the stream is no dataplane yet. Clients of gRPC may drop what
// they have for NOT_FOUND, but keep it for UNAVAILABLE.
func (s *stream) isWaiting() bool {
	return s.node.ID != "" && s.snapshot == nil && !s.denied && !s.isKnown() && len(s.node.Parameters) == 0
}

// failure returns the element of resource_errors for a name that the stream is not served.
// The text repeats nothing that the client sent, because a response has one for each name.
func (s *stream) failure(name string) failure {
	switch {
	case s.denied:
		return failure{name, codes.PermissionDenied, "the client may not have the resources of this dataplane: the SPIFFE ID of its certificate is not the one that a MeshIdentity gives the dataplane"}
	case s.snapshot != nil:
		return failure{name, codes.NotFound, "the dataplane has no such resource"}
	case s.node.ID == "":
		return failure{name, codes.NotFound, "the stream has no node"}
	case s.isWaiting():
		return failure{name, codes.Unavailable, "there is no dataplane with the id of the node yet"}
	}
	return failure{name, codes.NotFound, "there is no dataplane with the id of the node"}
}

// failureOf returns the code and the text of resource_errors for a locator without a
// variant.
func failureOf(l *locator) failure {
	if l.denied {
		return failure{l.name, codes.PermissionDenied, "the client may not have what these parameters choose"}
	}
	return failure{l.name, codes.NotFound, "no variant covers the parameters"}
}
