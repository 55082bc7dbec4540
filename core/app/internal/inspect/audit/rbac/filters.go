package rbac

import (
	"fmt"
	"net/netip"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/audit/dump"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/permission"
)

// Connection describes the connections of a chain.
type Connection struct {
	TLS    bool   // clients may have certificates
	NoTags bool   // certificates have no URI besides the SPIFFE ID
	Port   uint32 // of the destination; 0: not known
	// Address is the client's address; the zero value: it is not known. Forwarded reports that
	// the request has a header by which Envoy may take another one.
	Address   netip.Addr
	Forwarded bool
	// DNSName is a name in the certificate of the client; "": there is none.
	DNSName string
}

// Filters is what the filters of a chain allow.
type Filters struct {
	Chain access.Chain
	// Names has the name of the filter of each list, and RBAC whether it is an RBAC filter.
	Names []string
	RBAC  []bool
	// Expressions are the regular expressions that are compared with names in certificates.
	Expressions []Expression
	// IDs are the SPIFFE IDs that filters name exactly; some are there several times.
	IDs      []string
	policies map[*permission.Place]string
}

// Expression is a regular expression of a filter.
type Expression struct {
	Filter, Policy, Source string
}

// By returns the filter and the policy that decide; the policy is "default" if none does.
func (f *Filters) By(d access.ChainDecision) (filter, policy string) {
	if d.List >= 0 && d.List < len(f.Names) && (f.RBAC[d.List] || !d.Allow) {
		filter = f.Names[d.List]
	}
	if policy = f.policies[d.By]; policy == "" {
		policy = "default"
	}
	return filter, policy
}

// The types of RBAC filters.
const (
	httpType     = "envoy.extensions.filters.http.rbac.v3.RBAC"
	perRouteType = "envoy.extensions.filters.http.rbac.v3.RBACPerRoute"
	networkType  = "envoy.extensions.filters.network.rbac.v3.RBAC"
)

// New returns what the filters of a chain allow to connections.
func New(chain *dump.Chain, connection Connection) *Filters {
	out := &Filters{policies: map[*permission.Place]string{}}
	changed, states := "", map[string]string{}
	for i := range chain.Filters {
		f := &chain.Filters[i]
		addStates(states, f)
		b := &builder{Filters: out, filter: f.Name, http: f.HTTP, connection: connection, changed: changed, states: states}
		isRBAC := f.Type == httpType || f.Type == networkType || f.Missing != "" && f.Type == ""
		if isRBAC {
			b.filterOf(f)
		} else {
			effect := effectOf(f.Type)
			if f.Disabled && len(f.Overrides) == 0 {
				continue
			}
			if effect.changes {
				changed = f.Name
			}
			if !effect.refuses {
				continue
			}
			b.unknown(nil, fmt.Sprintf("filter %s of type %s refuses the request", f.Name, f.Type))
			b.list.Open = true
		}
		out.Chain, out.Names, out.RBAC = append(out.Chain, &b.list), append(out.Names, f.Name), append(out.RBAC, isRBAC)
	}
	return out
}

// builder makes the list of a filter.
type builder struct {
	*Filters
	list       access.List
	filter     string
	http       bool
	connection Connection
	changed    string            // a filter before this one that can change the request; "": none
	policy     string            // that is read; for expressions
	states     map[string]string // the formats of filter states that earlier filters write
	places     map[string]*permission.Place
	depth      int
}

// place returns the place of a policy or action of the filter.
func (b *builder) place(policy string) *permission.Place {
	if policy == "" {
		return nil
	}
	if b.places == nil {
		b.places = map[string]*permission.Place{}
	}
	p := b.places[policy]
	if p == nil {
		p = &permission.Place{KRI: policy}
		b.places[policy], b.policies[p] = p, policy
	}
	return p
}

// add adds an entry: requests that meet both conditions are allowed or denied.
func (b *builder) add(policy string, allow bool, when ...*access.Requests) {
	b.list.Entries = append(b.list.Entries, access.Entry{Allow: allow, By: b.place(policy), When: access.And(when...)})
}

// unknown adds an entry that denies requests that meet when, if a condition outside the
// request also holds.
func (b *builder) unknown(when *access.Requests, what string) {
	b.add("", false, when, access.Undetermined(what))
}

// unread adds entries for what cannot be read: it refuses the requests that meet a condition, lets
// them pass, or does neither.
func (b *builder) unread(when *access.Requests, what string) {
	b.unknown(when, what+" refuses the request")
	b.add("", true, when, access.Undetermined(what+" lets the request pass"))
}

// filterOf adds the entries of an RBAC filter: first its overrides' entries, then its own.
func (b *builder) filterOf(f *dump.Filter) {
	for i := range f.Overrides {
		o := &f.Overrides[i]
		when := b.scope(o)
		config, known := o.Config, o.Type == perRouteType
		switch {
		case o.Base && (f.Disabled || f.Type == ""):
			b.add("", true, when)
		case o.Base:
			b.config(f.Config, when)
		case o.Disabled:
			b.add("", true, when)
		case known && config.Has("rbac"):
			b.config(config.Object("rbac"), when)
		case known:
			b.add("", true, when)
		default:
			b.unknown(when, fmt.Sprintf("the override of %s, of type %s, refuses the request", o.Where, o.Type))
			b.add("", true, when)
		}
	}
	if f.Missing != "" {
		b.unread(nil, fmt.Sprintf("filter %s, because %s,", f.Name, f.Missing))
	}
	if f.Disabled || f.Type == "" {
		b.list.Open = true
		return
	}
	b.config(f.Config, nil)
}

// config adds the entries of the config of a filter for the requests of a set. A request that no
// entry matches is denied by the list, so each config ends with an entry for all others.
func (b *builder) config(c dump.Object, when *access.Requests) {
	if field := c.Beside("rules", "rules_stat_prefix", "shadow_rules", "shadow_rules_stat_prefix", "matcher", "shadow_matcher", "track_per_rule_stats", "stat_prefix", "enforcement_type", "delay_deny"); field != "" {
		b.unread(when, fmt.Sprintf("the field %s of filter %s", field, b.filter))
	}
	switch {
	case c.Has("matcher"):
		b.matcher(c.Object("matcher"), when)
		b.add("", false, when)
	case c.Has("rules"):
		b.rules(c.Object("rules"), when)
	default:
		b.add("", true, when)
	}
}
