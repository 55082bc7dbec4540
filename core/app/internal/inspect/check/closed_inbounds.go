package check

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// closedInbounds warns of inbounds, and of the listeners of egresses, that deny every
// request (SPEC 7.3, 17.4). There is one warning for all that no permission selects, and one
// for each group with the same permissions.
func (m *meshCheck) closedInbounds() {
	var causes []*closedCause
	known := map[string]*closedCause{}           // by the policies
	closed := map[requests.Inputs]*closedCause{} // nil: the inbound allows some request
	examine := func(d *resource.Dataplane, config *results.Config, i int, path, name string) {
		key := requests.InputsOf(config, d, i, false)
		cause, examined := closed[key]
		if !examined {
			if permissions := permission.ForInbound(config, d, i); !m.allowsAny(key, permissions) {
				names := permittingPolicies(key)
				if cause = known[names]; cause == nil {
					cause = &closedCause{policies: names, dataplane: d, path: path, rules: permissions.Rules != nil}
					known[names], causes = cause, append(causes, cause)
				}
			}
			closed[key] = cause
		}
		if cause != nil {
			cause.inbounds = append(cause.inbounds, name)
		}
	}
	for _, d := range m.dataplanes {
		if !m.view.PermissionsApply(d) {
			continue
		}
		config := requests.ConfigIn(m.view.Configs(d, core.Enforced))
		for i := range d.Inbounds {
			if m.view.Semantics().Listens(d, i) {
				examine(d, config, i, fmt.Sprintf("networking.inbound[%d]", i), inboundOf(d, i))
			}
		}
		if !m.hasEgress(d) {
			continue
		}
		egress := d.ListenersAsInbounds("http")
		config = requests.ConfigIn(m.view.Configs(egress, core.Enforced))
		names := find.ListenerNames(m.view, d)
		for i := range d.Listeners {
			if d.Listeners[i].Egress {
				examine(egress, config, i, fmt.Sprintf("networking.listeners[%d]", i), d.Qualified()+" "+names[i])
			}
		}
	}
	for _, cause := range causes {
		m.warn(cause.warning(m.openAll(cause.dataplane)))
	}
}

// hasEgress reports whether a dataplane serves listeners of an egress (SPEC 17.4).
func (m *meshCheck) hasEgress(d *resource.Dataplane) bool {
	if m.view.Semantics() == semantics.TargetRef || !slices.ContainsFunc(d.Listeners, func(l resource.Listener) bool { return l.Egress }) {
		return false
	}
	id, err := m.view.Identities(m.mesh).IdentityOf(d)
	return err == nil && id != nil
}

// allowsAny reports whether an inbound allows any request. If this is unknown, it
// returns true.
func (m *meshCheck) allowsAny(key requests.Inputs, p *permission.Permissions) bool {
	if allows, known := m.allows[key]; known {
		return allows
	}
	regions, err := access.Regions(&access.Space{Protocol: p.Protocol}, access.ListOf(p), nil, m.accessLimits)
	return err != nil || slices.ContainsFunc(regions, func(r access.Region) bool { return r.Allow })
}

// inboundOf returns the names of a dataplane and of its inbound, given by its index.
func inboundOf(d *resource.Dataplane, inbound int) string {
	return d.Qualified() + " " + find.InboundName(d, inbound)
}

// openInbounds warns, once for a mesh, of inbounds that allow every client
// because no permission is applied to their dataplanes (SPEC 17.1).
func (m *meshCheck) openInbounds() {
	var first *resource.Dataplane
	var inbounds []string
	for _, d := range m.dataplanes {
		if len(d.Inbounds) == 0 || m.view.PermissionsApply(d) {
			continue
		}
		for i := range d.Inbounds {
			if m.view.Semantics().Listens(d, i) {
				first = cmp.Or(first, d)
				inbounds = append(inbounds, inboundOf(d, i))
			}
		}
	}
	if first == nil {
		return
	}
	m.warn(diag.Diagnostic{
		Code: diag.OpenInbound, Pos: first.Pos, Path: "networking.inbound[0]",
		What: fmt.Sprintf("every client is allowed, because %s: %s", permission.OpenReason, words.First(inbounds)), Hint: permission.OpenHint,
	})
}

// permittingPolicies returns the names of the policies that select an inbound.
func permittingPolicies(p requests.Inputs) string {
	var names []string
	if p.Config != nil {
		for _, matched := range p.Config.Matched.All() {
			if matched.Inbounds.Has(p.Inbound) {
				names = append(names, matched.Policy.Qualified())
			}
		}
	}
	return strings.Join(names, ", ")
}

// closedCause is the reason why inbounds deny every request.
type closedCause struct {
	policies  string // the policies that select the inbounds
	rules     bool   // they have rules, and no `from` has an effect
	dataplane *resource.Dataplane
	path      string   // of the first of the inbounds in the dataplane
	inbounds  []string // their names
}

// opening is a part of a policy, and the clients that it allows.
type opening struct{ clients, spec string }

// openAll returns the shortest part of a policy that opens the inbounds of a dataplane
// (SPEC 7.3). Where clients are identified by SPIFFE IDs, `from` is old or is not read at
// all: the part then allows the clients of the trust domain of the dataplane.
func (m *meshCheck) openAll(d *resource.Dataplane) opening {
	id, err := m.view.Identities(m.mesh).IdentityOf(d)
	identified := err == nil && id != nil
	kind := m.view.Kinds().Lookup(permission.KindName)
	switch read := kind == nil || m.view.Semantics().FromItems(kind) != semantics.FromUnread; {
	case identified && m.view.Semantics() != semantics.TargetRef:
		return allowDomain(id.TrustDomain)
	case read:
		return opening{"every client", `"from: [{targetRef: {kind: Mesh}, default: {action: Allow}}]"`}
	}
	return allowDomain("TRUSTDOMAIN")
}

// allowDomain returns the rules that allow the clients of a trust domain. The prefix has no
// final slash, which Kuma refuses.
func allowDomain(domain string) opening {
	prefix := "spiffe://" + domain
	return opening{"every client with a SPIFFE ID below " + prefix, fmt.Sprintf(`"rules: [{default: {allow: [{spiffeID: {type: Prefix, value: '%s'}}]}}]"`, prefix)}
}

// warning returns the finding; open is the part of a policy that its hint proposes.
func (c *closedCause) warning(open opening) diag.Diagnostic {
	names := words.First(c.inbounds)
	w := diag.Diagnostic{Code: diag.ClosedInbound, Pos: c.dataplane.Pos, Path: c.path}
	switch {
	case c.policies == "":
		w.What = "every request is denied, because no MeshTrafficPermission selects the inbound: " + names
		w.Hint = fmt.Sprintf("to allow %s, write in the spec of a MeshTrafficPermission %s", open.clients, open.spec)
	default:
		w.What = fmt.Sprintf("every request is denied, because the policies that select the inbound (%s) allow none: %s", c.policies, names)
		w.Hint = "add a rule with an allow entry"
		if !c.rules {
			w.Hint = fmt.Sprintf("to allow %s, write in the place of `from` %s", open.clients, open.spec)
		}
	}
	return w
}
