package relay

import (
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// subscribeOrder is the order in which types are requested (SPEC 12.3): before a client gets a
// variant of a route, it has requested the variant of its cluster.
var subscribeOrder = [...]wire.Type{
	wire.ExtensionType, wire.ClusterType, wire.EndpointType, wire.ListenerType, wire.RouteType, wire.SecretType,
}

// maxElements limits the names and locators of one request, except the first of a type.
const maxElements = 10_000

// locators is the session for all subscriptions of clients with equal resources. It is guarded by
// Relay.mu.
type locators struct {
	relay *Relay
	// by is one of the clients, and client is what all of them are.
	by          program
	client      capability.Client
	session     *session // nil without an upstream
	begun       [wire.NumTypes]bool
	fresh, gone [wire.NumTypes][]*subscription
	warned      bool
}

// subscribe sends a subscription with the next request.
func (l *locators) subscribe(sub *subscription) {
	t := sub.name.key.t
	l.fresh[t] = append(l.fresh[t], sub)
	l.session.wake()
}

// unsubscribe ends a subscription with the next request.
func (l *locators) unsubscribe(sub *subscription) {
	t := sub.name.key.t
	if i := slices.Index(l.fresh[t], sub); i >= 0 {
		l.fresh[t] = slices.Delete(l.fresh[t], i, i+1)
		return
	}
	l.gone[t] = append(l.gone[t], sub)
	l.session.wake()
}

// node implements owner.
func (l *locators) node() *corev3.Node { return l.by.node() }

// locatorsFor returns the session for the subscriptions of a program, with r.mu.
func (r *Relay) locatorsFor(by program) *locators {
	client := by.client()
	l := r.locators[client]
	if l == nil {
		if l = r.spare; l != nil {
			r.spare = nil
		} else {
			l = r.newLocators()
		}
		l.by, l.client = by, client
		r.locators[client] = l
	}
	return l
}

// newLocators returns a session, which begins if there is an upstream.
func (r *Relay) newLocators() *locators {
	l := &locators{relay: r}
	if r.options.Mode == Locators {
		r.startSession(l)
	}
	return l
}

// begin implements owner.
func (l *locators) begin(s *session) {
	l.session = s
	l.begun = [wire.NumTypes]bool{}
	l.fresh, l.gone = [wire.NumTypes][]*subscription{}, [wire.NumTypes][]*subscription{}
	for _, n := range l.relay.names {
		if n.locators != l {
			continue
		}
		n.markOld()
		for _, sub := range n.sortedSubscriptions() {
			if sub.requested {
				l.fresh[n.key.t] = append(l.fresh[n.key.t], sub)
			}
		}
	}
}

// requests implements owner.
func (l *locators) requests() (requests []*discoveryv3.DeltaDiscoveryRequest) {
	for _, t := range subscribeOrder {
		for len(l.fresh[t])+len(l.gone[t]) > 0 {
			r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: t.URL()}
			first := !l.begun[t]
			take := func(from *[]*subscription) (list []*discoveryv3.ResourceLocator) {
				n := len(*from)
				if !first {
					n = min(n, maxElements)
				}
				for _, sub := range (*from)[:n] {
					list = append(list, &discoveryv3.ResourceLocator{Name: sub.name.key.name, DynamicParameters: sub.parameters.Values})
				}
				*from = (*from)[n:]
				return list
			}
			if first {
				r.InitialResourceVersions = versionsOf(l.fresh[t])
			}
			r.ResourceLocatorsUnsubscribe = take(&l.gone[t])
			r.ResourceLocatorsSubscribe = take(&l.fresh[t])
			if first && len(r.ResourceLocatorsSubscribe) == 0 {
				continue // nothing was requested: a first request must not be empty
			}
			l.begun[t] = true
			requests = append(requests, r)
		}
	}
	return requests
}

// versionsOf returns the versions of what is held for subscriptions. Of a name with several
// subscriptions, it lists the versions of all variants; see server.isList.
func versionsOf(subscriptions []*subscription) map[string]string {
	versions := map[string]string{}
	count := map[*name]int{}
	for _, sub := range subscriptions {
		count[sub.name]++
	}
	for n, subscriptions := range count {
		switch {
		case n.view == nil || len(n.view.variants) == 0:
		case subscriptions == 1 && len(n.view.variants) == 1:
			versions[n.key.name] = n.view.variants[0].version
		default:
			var list strings.Builder
			for _, h := range n.view.variants {
				list.WriteString(h.version + ",")
			}
			versions[n.key.name] = list.String()
		}
	}
	return versions
}

// apply implements owner.
func (l *locators) apply(v *verified) (problems []string) {
	r := l.relay
	for _, x := range v.resources {
		if !x.located {
			problems = append(problems, x.resource.Name+": it was requested by locator, and the response has it by name")
		}
	}
	if len(problems) > 0 {
		if !l.warned {
			l.warned = true
			r.log.Error("the upstream does not respond to locators; choose the mode that subscribes by node only")
		}
		return problems[:min(len(problems), maxProblems)]
	}
	for name := range v.rejected {
		if n := r.names[nameKey{v.t, name, l.client}]; n != nil {
			n.rejected.note(r.clock.Load(), v.why(name))
		}
	}
	for name, u := range v.byName() {
		n := r.names[nameKey{v.t, name, l.client}]
		if n == nil || v.rejected[name] {
			continue // evicted, or a part of the response is missing
		}
		changed, err := r.apply(n, u)
		if err != nil {
			n.rejected.note(r.clock.Load(), err.Error())
			problems = append(problems, name+": "+err.Error())
		} else {
			n.rejected = rejectedState{}
		}
		if changed {
			r.edit.names.set(n.key, n.view)
			r.edited = true
		}
		r.edited = r.edited || u.none
	}
	return problems
}
