package server

import (
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// receiveDelta handles a request of the delta protocol. It is called with the lock.
func (s *stream) receiveDelta(r *discoveryv3.DeltaDiscoveryRequest) error {
	s.server.refresh() // a request is answered from the newest state
	if err := s.setNode(r.GetNode()); err != nil {
		return err
	}
	s.advance()
	t, ok := wire.TypeOf(r.GetTypeUrl())
	if !ok {
		return s.refuseDelta(r)
	}
	w, first := s.watch(t)
	s.answer(w, r.GetResponseNonce(), r.GetErrorDetail())

	before := w.sub.size()
	names, locators := r.GetResourceNamesSubscribe(), r.GetResourceLocatorsSubscribe()
	if !first && len(names)+len(locators)+len(r.GetResourceNamesUnsubscribe())+len(r.GetResourceLocatorsUnsubscribe()) == 0 {
		return nil
	}
	if err := s.checkLocators(locators); err != nil {
		return err
	}
	if nonce := r.GetResponseNonce(); nonce != "" && r.GetErrorDetail() == nil && w.isInFlight() && s.isEarlier(nonce) {
		w.endFlight() // see receiveState
	}
	if gone := r.GetResourceNamesUnsubscribe(); len(gone) > 0 {
		s.unsubscribe(w, gone)
	}
	gone := w.sub.unlocate(r.GetResourceLocatorsUnsubscribe())
	w.unknown.forget(gone)
	if first && len(names) == 0 && len(locators) == 0 {
		w.sub.all = true
		w.owed.answer = true
	}
	if len(names) > 0 {
		w.resubscribe(names)
	}
	if len(locators) > 0 {
		w.sub.locate(locators)
		w.owed.answer = true
	}
	if err := s.resize(w, before); err != nil {
		return err
	}
	s.rewant(w)
	if len(locators) > 0 || len(gone) > 0 {
		s.relocate(w, reach{})
		w.choose()
		w.forgetLocators(gone)
	}
	w.touch()
	if versions := r.GetInitialResourceVersions(); first && len(versions) > 0 {
		w.resume(versions)
		if w.isPartial() || s.mayKeep(w.t) {
			s.rewant(w) // with what the client holds
		}
	}
	if !first {
		return nil
	}
	s.resumes(w)
	return s.resize(w, w.sub.size())
}

// resubscribe adds names. Each of them is answered, and so is each resource of a
// wildcard that the client asks for again.
func (w *watch) resubscribe(names []string) {
	if w.sub.all && slices.Contains(names, wildcard) {
		held := make([]string, len(w.held))
		for i, r := range w.held {
			held[i] = r.Name
		}
		w.owe(held)
	}
	w.sub.subscribeAll(names)
	w.owe(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == wildcard }))
}

// unsubscribe removes names. One that the wildcard still selects is answered with its
// current resource, because the client cannot decide whether to keep it.
func (s *stream) unsubscribe(w *watch, names []string) {
	w.sub.unsubscribe(names)
	if w.sub.all {
		w.owe(slices.Clone(names))
	}
	w.forget()
}

// stubBytes is the memory for a resource that only the client has.
const stubBytes = 160

// resume reads the versions of what the client holds. A resource that it holds in the
// wanted version is not sent, although the client asks for it. The versions are by name
// only. If a name is subscribed more than once, by itself and by locators, its version may
// be of any of them. So all of them are sent; except that a client may list the versions of
// all variants of the name (see hasVersion).
func (w *watch) resume(versions map[string]string) {
	located := map[string]int{}
	for i := range w.sub.locators {
		located[w.sub.locators[i].name]++
	}
	held := make([]*wire.Resource, 0, len(versions))
	for name, version := range versions {
		if !w.sub.all && !w.sub.has(name) {
			continue
		}
		if located[name] > 0 {
			version = "" // not known
		}
		r := find(w.want, name)
		if r == nil || r.Version != version {
			r = &wire.Resource{Type: w.t, Name: name, Version: version}
			w.stubs += int32(stubBytes + len(name) + len(version))
		}
		held = append(held, r)
	}
	sortResources(held)
	if slices.Equal(held, w.want) {
		held = w.want
	}
	w.held = held
	w.owed.names = slices.DeleteFunc(w.owed.names, func(name string) bool {
		r := find(w.held, name)
		return r != nil && (r == find(w.want, name) || w.isUnknown(name))
	})
	for i := range w.sub.locators {
		l := &w.sub.locators[i]
		if w.sub.all || w.sub.has(l.name) || located[l.name] > 1 && !isList(versions[l.name]) {
			continue
		}
		if version, ok := versions[l.name]; ok && l.unknown {
			w.unknown.resume(l.name, version)
			w.stubs += int32(nameBytes + len(l.name) + len(version))
			continue
		}
		if v := l.chosen; v.Resource != nil && hasVersion(versions[l.name], v) {
			l.owed = false
			w.heldVariants = append(w.heldVariants, v)
		}
	}
	sortVariants(w.heldVariants)
	w.heldVariants = slices.CompactFunc(w.heldVariants, func(a, b wire.Variant) bool { return compareVariants(a, b) == 0 })
}

// refuseDelta answers a request for a type that is not served: its names are missing.
func (s *stream) refuseDelta(r *discoveryv3.DeltaDiscoveryRequest) error {
	refusal := newRefusal(r.GetTypeUrl(), r.GetResourceNamesSubscribe(), r.GetResourceLocatorsSubscribe())
	if refusal.empty() && (r.GetResponseNonce() != "" || len(r.GetResourceNamesUnsubscribe()) > 0) {
		return nil
	}
	return s.refuse(refusal)
}
