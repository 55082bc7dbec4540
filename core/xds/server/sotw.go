package server

import (
	"fmt"
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// receiveState handles a request of the state of the world protocol. It is called with
// the lock.
func (s *stream) receiveState(r *discoveryv3.DiscoveryRequest) error {
	s.server.refresh() // a request is answered from the newest state
	if err := s.setNode(r.GetNode()); err != nil {
		return err
	}
	s.advance()
	t, ok := wire.TypeOf(r.GetTypeUrl())
	if !ok {
		return s.refuseState(r)
	}
	w, first := s.watch(t)
	if w.answered {
		// A request that does not answer the last response was sent before the client
		// read it. The client repeats its subscription with the answer.
		n := newNonce(s.id, w.nonce)
		switch {
		case r.GetResponseNonce() == string(n[:]):
			if s.asksAgain(w, r) {
				w.owe(slices.Clone(w.sub.names))
			}
			s.answer(w, r.GetResponseNonce(), r.GetErrorDetail())
		case r.GetErrorDetail() != nil:
			s.answer(w, r.GetResponseNonce(), r.GetErrorDetail()) // of a late response
			return nil
		case !s.isEarlier(r.GetResponseNonce()):
			return nil
		case w.repeats(r.GetResourceNames(), r.GetResourceLocators()):
			if s.dropsSilently() && len(w.sub.names) > 0 {
				w.owe(slices.Clone(w.sub.names)) // what is in flight may have some of them alone
			}
			return nil
		case w.isInFlight():
			// The client may not answer the last response at all. If it does, the answer is still
			// paired with it, unless there is a newer response.
			w.endFlight()
		}
	}

	before := w.sub.size()
	if err := s.checkLocators(r.GetResourceLocators()); err != nil {
		return err
	}
	changed, gone := w.replace(r, first)
	if changed || first { // an ACK costs nothing more
		if err := s.resize(w, before); err != nil {
			return err
		}
		w.waits = false
		s.rewant(w)
		s.relocate(w, reach{})
		w.choose()
		w.forgetLocators(gone)
		if !first && s.dropsSilently() && len(w.sub.names) > 0 {
			w.owe(slices.Clone(w.sub.names))
		}
	}
	if first {
		s.resumeState(w, r.GetVersionInfo())
		s.resumes(w)
	}
	return nil
}

// isEarlier reports whether a nonce is empty or has the form of those of the stream.
func (s *stream) isEarlier(nonce string) bool {
	n := newNonce(s.id, 0)
	return nonce == "" || len(nonce) == nonceLength && nonce[:9] == string(n[:9])
}

// replace makes the names and locators of a request the subscription. It reports whether
// that has changed, and returns the locators that are gone. What is new is owed.
func (w *watch) replace(r *discoveryv3.DiscoveryRequest, first bool) (changed bool, gone []locator) {
	names, locators := r.GetResourceNames(), r.GetResourceLocators()
	if !first && w.repeats(names, locators) {
		return false, nil
	}
	next := subscription{parameters: w.sub.parameters}
	next.subscribeAll(names)
	next.locators = next.read(locators)
	if next.size() == 0 && !next.all {
		w.implied = w.implied || first
		next.all = w.implied
	} else {
		w.implied = false
	}

	fresh := slices.DeleteFunc(slices.Clone(next.names), w.sub.has)
	changed = len(fresh) > 0 || len(next.names) != len(w.sub.names) || next.all != w.sub.all
	if len(fresh) > 0 || next.all && !w.sub.all || first {
		w.owe(fresh)
	}
	for _, l := range w.sub.locators {
		if at, found := slices.BinarySearchFunc(next.locators, l, compareLocators); found {
			next.locators[at] = l
		} else {
			gone = append(gone, l)
		}
	}
	for i := range next.locators {
		if _, found := slices.BinarySearchFunc(w.sub.locators, next.locators[i], compareLocators); !found {
			next.locators[i].owed, w.owed.answer, changed = true, true, true
		}
	}
	if !changed && len(gone) == 0 {
		return false, nil
	}
	w.sub = next
	w.sub.sweep()
	w.forget()
	return true, gone
}

// repeats reports whether a request has the subscription of the watch. It is for the
// usual case: an ACK by a client without locators and without an explicit wildcard.
func (w *watch) repeats(names []string, locators []*discoveryv3.ResourceLocator) bool {
	if len(locators)+len(w.sub.locators) > 0 || len(names) != len(w.sub.names) || w.sub.all && !w.implied {
		return false
	}
	if slices.Equal(names, w.sub.names) { // most clients sort them
		return true
	}
	return !slices.ContainsFunc(names, func(name string) bool { return !w.sub.has(name) })
}

// asksAgain reports whether a request of a gRPC client repeats its names, although it has answered
// the last response. The client has dropped what it had: grpc-java before 1.66 sends nothing when
// the last name of a type goes, so the request with which the name returns looks like a second ACK.
// Without a response, the client reports after 15 s that the resource does not exist.
func (s *stream) asksAgain(w *watch, r *discoveryv3.DiscoveryRequest) bool {
	return s.isGRPC() && !w.isInFlight() && r.GetErrorDetail() == nil && len(w.rejected) == 0 &&
		len(w.sub.names) > 0 && w.repeats(r.GetResourceNames(), r.GetResourceLocators())
}

// dropsSilently reports whether the client may have dropped names that it has asked for: see asksAgain.
// If it then also requests other names, the server cannot determine which of them it has.
func (s *stream) dropsSilently() bool {
	if s.node.UserAgent != "gRPC Java" {
		return false
	}
	var major, minor int
	_, err := fmt.Sscanf(s.node.Version, "%d.%d", &major, &minor)
	return err == nil && major == 1 && minor < 66
}

// resumeState is called with the version that a client resumes with. It does not show what the client
// holds: after a NACK a client has applied a part of the response, and keeps the version of the
// previous one. So the client is sent everything. If the node is not known, a client that holds
// something gets no empty response, which would delete it: it waits with what it has until the node is
// a dataplane.
func (s *stream) resumeState(w *watch, version string) {
	if version != "" && full(w.t) && !s.isKnown() && s.node.ID != "" && len(w.sub.locators) == 0 {
		w.waits = true
		w.touch()
	}
}

// refuseState answers a request for a type that is not served. It answers the first
// request of a type, which has no nonce.
func (s *stream) refuseState(r *discoveryv3.DiscoveryRequest) error {
	if r.GetResponseNonce() != "" {
		return nil
	}
	return s.refuse(newRefusal(r.GetTypeUrl(), r.GetResourceNames(), r.GetResourceLocators()))
}
