package xdstest

import (
	"fmt"
	"slices"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Held is a resource that a client holds.
type Held struct {
	Type    wire.Type
	Name    string
	Version string // in state of the world the version of the response
	Body    string // the marshalled message
	Located bool   // it was sent as a variant, with a resource_name
	// Constraints is the marshalled message of a variant, empty if there is only one.
	Constraints string
}

// A Locator is a resource name with dynamic parameters.
type Locator struct {
	Name       string
	Parameters map[string]string
}

// key returns a text that is equal for equal locators only: keys of maps are sorted.
func (l Locator) key() string { return fmt.Sprintf("%q %q", l.Name, l.Parameters) }

func (l Locator) proto() *discoveryv3.ResourceLocator {
	return &discoveryv3.ResourceLocator{Name: l.Name, DynamicParameters: l.Parameters}
}

// held is what a client has in one type.
type held struct {
	wildcard bool
	explicit bool // in state of the world, the wildcard was named on this stream: without names it would end
	names    map[string]bool
	locators map[string]Locator
	named    map[string]Held
	located  map[string]Held // by key of the locator
	errors   map[string]codes.Code
	version  string // of the last response in state of the world
	nonce    string
	resumed  bool // nothing was sent on this stream yet
	// old has the keys of located that were held before this stream and are not sent
	// on it.
	old map[string]bool
}

func newHeld() *held {
	return &held{
		names: map[string]bool{}, locators: map[string]Locator{},
		named: map[string]Held{}, located: map[string]Held{}, errors: map[string]codes.Code{},
	}
}

// apply changes the subscription, and drops what is no longer subscribed.
func (h *held) apply(r change) {
	for _, name := range r.unsubscribe {
		if delete(h.names, name); name == "*" {
			h.wildcard = false
		}
	}
	for _, name := range r.subscribe {
		if name == "*" {
			h.wildcard = true
		} else {
			h.names[name] = true
		}
	}
	for _, l := range r.unsubscribeLocators {
		delete(h.locators, l.key())
		delete(h.located, l.key())
	}
	for _, l := range r.subscribeLocators {
		h.locators[l.key()] = l
	}
	for name := range h.named {
		if !h.wildcard && !h.names[name] {
			delete(h.named, name)
		}
	}
}

// hold applies what was accepted of a response. In state of the world, all has the
// resources that the client has rejected too.
func (h *held) hold(r Response, state bool, all Response) {
	if state && (r.Type == wire.ListenerType || r.Type == wire.ClusterType) {
		h.dropAbsent(all)
	}
	for _, name := range r.Removed {
		delete(h.named, name)
	}
	for _, gone := range r.RemovedVariants {
		// The server has no constraints for what the client held before this stream: a
		// removal is about the locators that its constraints accept. Without
		// constraints it is the only variant, or a name that does not exist.
		for key, v := range h.located {
			if v.Name == gone.Name && (v.Constraints == gone.Constraints || h.old[key] && accepts(gone.Constraints, h.locators[key].Parameters)) {
				delete(h.located, key)
			}
		}
	}
	for name, code := range r.Errors {
		h.errors[name] = code
		if state && code != codes.Unavailable { // a client keeps what is unavailable
			delete(h.named, name) // the only removal that some types have
			for key, v := range h.located {
				if v.Name == name {
					delete(h.located, key)
				}
			}
		}
	}
	for _, x := range r.Resources {
		delete(h.errors, x.Name)
		if !x.Located && (h.wildcard || h.names[x.Name]) {
			h.named[x.Name] = x
		}
		for key, l := range h.locators {
			if x.Located && l.Name == x.Name && accepts(x.Constraints, l.Parameters) {
				h.located[key] = x
				delete(h.old, key)
			}
		}
	}
}

// dropAbsent drops what a response with the state of the world does not have. What the
// client has rejected is present.
func (h *held) dropAbsent(r Response) {
	named := map[string]bool{}
	for _, x := range r.Resources {
		named[x.Name] = named[x.Name] || !x.Located
	}
	for name := range h.named {
		if !named[name] {
			delete(h.named, name)
		}
	}
	for key := range h.located {
		l := h.locators[key]
		if !slices.ContainsFunc(r.Resources, func(x Held) bool {
			return x.Located && x.Name == l.Name && accepts(x.Constraints, l.Parameters)
		}) {
			delete(h.located, key)
		}
	}
}
