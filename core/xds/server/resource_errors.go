package server

import (
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// answerNames composes the names that the client asked for and that do not exist,
// and keeps as owed those that did not fit.
func (c *composer) answerNames(s *stream, w *watch) {
	if len(w.owed.names) == 0 {
		return
	}
	m := &c.message
	rest := w.owed.names[:0]
	for _, name := range w.owed.names {
		switch {
		case find(w.want, name) == nil:
			// A node that has not been a dataplane keeps what it resumed with.
			if s.protocol == delta && (s.known || find(w.held, name) == nil) {
				m.removed = append(m.removed, name)
			}
			m.failures = append(m.failures, s.failure(name))
		case c.cut && find(m.resources, name) == nil:
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

// answerLocators is answerNames for locators.
func (c *composer) answerLocators(s *stream, w *watch) {
	m := &c.message
	for i := range w.sub.locators {
		l := &w.sub.locators[i]
		if !l.owed {
			continue
		}
		if l.chosen.Resource != nil {
			_, sent := findVariant(m.variants, l.chosen)
			l.owed = c.cut && !sent
			continue
		}
		l.owed = false
		if s.protocol == delta {
			m.removedVariants = append(m.removedVariants, removedVariant{name: l.name})
		}
		m.failures = append(m.failures, failureOf(l))
	}
}

// gone composes the errors of the names and locators that existed and do no longer.
func (s *stream) gone(w *watch, m *message) {
	differences(w.want, w.held, func(want, held *wire.Resource) bool {
		if want == nil && s.known && w.sub.has(held.Name) {
			m.failures = append(m.failures, s.failure(held.Name))
		}
		return true
	})
	for i := range w.sub.locators {
		if l := &w.sub.locators[i]; l.chosen.Resource == nil && hasVariantOf(w.heldVariants, l.name) {
			m.failures = append(m.failures, failureOf(l))
		}
	}
	s.announce(w, m)
}

// announce composes the error of a wildcard of a node that is no dataplane.
func (s *stream) announce(w *watch, m *message) {
	if w.sub.all && s.node.ID != "" && s.snapshot == nil {
		m.failures = append(m.failures, s.failure(wildcard))
	}
}

// failure returns the element of resource_errors for a name that the stream is not
// served.
func (s *stream) failure(name string) failure {
	switch {
	case s.denied:
		return failure{name, codes.PermissionDenied, "the client may not have the resources of the dataplane " + s.node.ID}
	case s.snapshot != nil:
		return failure{name, codes.NotFound, "the dataplane has no such resource"}
	case s.node.ID == "":
		return failure{name, codes.NotFound, "the stream has no node"}
	}
	return failure{name, codes.NotFound, "there is no dataplane " + s.node.ID}
}

// failureOf returns the code and the text of resource_errors for a locator without a
// variant.
func failureOf(l *locator) failure {
	if l.denied {
		return failure{l.name, codes.PermissionDenied, "the client may not have what these parameters choose"}
	}
	return failure{l.name, codes.NotFound, "no variant covers the parameters"}
}
