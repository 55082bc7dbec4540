package rbac

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/anypb"

	// The types of the filters, so that their JSON can be printed.
	_ "github.com/cncf/xds/go/xds/type/matcher/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/request"
)

// Form is how a filter expresses which clients are allowed.
type Form uint8

const (
	// MatcherForm is a matcher tree whose actions have the names of policies.
	MatcherForm Form = iota
	// RulesForm is policies of principals. gRPC reads nothing else: to gRPC a
	// filter with a matcher only is a filter that allows every client.
	RulesForm
)

// The names of Envoy's filters.
const (
	HTTPFilterName    = "envoy.filters.http.rbac"
	NetworkFilterName = "envoy.filters.network.rbac"
)

// MaxFilter is the size in bytes up to which a filter is made.
const MaxFilter = 16 << 20

// ErrTooLarge indicates that a filter would be larger than [MaxFilter] (SPEC
// 7.6).
var ErrTooLarge = errors.New("the filter has more than 16 MiB; use fewer entries, or prefixes of SPIFFE IDs")

// New returns the filter of an inbound: an HTTP filter on HTTP inbounds, a
// network filter on TCP ones. The network filter counts under statPrefix,
// which must not be empty and ends in a dot; the HTTP filter counts under its
// connection manager. The error is [ErrTooLarge].
func New(p *permission.Permissions, form Form, statPrefix string) (Filter, error) {
	w := &writer{data: make([]byte, 0, sizeHint(p))}
	name, url, fields := filterOf(p.Protocol)
	fields.write(w, p, form, statPrefix)
	if w.full || len(w.data) > MaxFilter {
		return Filter{}, ErrTooLarge
	}
	return Filter{name, &anypb.Any{TypeUrl: url, Value: w.data}}, nil
}

// LimitName is the name of the filter that DenyAll returns, and of its action.
const LimitName = "limit"

// DenyAll returns the filter of an inbound whose permissions are past a limit. It
// denies every request (SPEC 11.2).
func DenyAll(protocol request.Protocol, form Form, statPrefix string) Filter {
	w := &writer{}
	_, url, fields := filterOf(protocol)
	if form == RulesForm {
		w.message(fields.rules, func() {})
	}
	if fields.statPrefix != 0 {
		w.text(fields.statPrefix, statPrefix)
	}
	if form == MatcherForm {
		w.message(fields.matcher, func() {
			m := &matcherWriter{w, nil}
			m.onMatch(matcherOnNoMatch, action{policy: LimitName, deny: true})
		})
	}
	return Filter{LimitName, &anypb.Any{TypeUrl: url, Value: w.data}}
}

// filterOf returns the name, the type and the fields of the filter of an inbound.
func filterOf(protocol request.Protocol) (name, url string, fields rbacFields) {
	if protocol == request.TCP {
		return NetworkFilterName, "type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC",
			rbacFields{rules: 1, shadowRules: 2, statPrefix: 3, matcher: 6, shadowMatcher: 7}
	}
	return HTTPFilterName, "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
		rbacFields{rules: 1, shadowRules: 2, matcher: 4, shadowMatcher: 5}
}

// rbacFields is the fields of one of the two filters, in their order.
type rbacFields struct{ rules, shadowRules, statPrefix, matcher, shadowMatcher protowire.Number }

func (f rbacFields) write(w *writer, p *permission.Permissions, form Form, statPrefix string) {
	decisions := []decision{enforced}
	if p.Rules != nil && p.Rules.HasShadow() || p.Clients != nil && p.Clients.HasShadow() {
		decisions = append(decisions, shadow)
	}
	if form == RulesForm {
		for _, d := range decisions {
			w.message([...]protowire.Number{f.rules, f.shadowRules}[d], func() { writeRules(w, p, d) })
		}
	}
	if f.statPrefix != 0 {
		w.text(f.statPrefix, statPrefix)
	}
	if form == MatcherForm {
		for _, d := range decisions {
			w.message([...]protowire.Number{f.matcher, f.shadowMatcher}[d], func() { writeMatcher(w, p, d) })
		}
	}
}

func writeMatcher(w *writer, p *permission.Permissions, d decision) {
	if p.Clients != nil {
		clientMatcher(w, p.Clients.Items(), d)
		return
	}
	entryMatcher(w, entriesOf(p), d)
}

func writeRules(w *writer, p *permission.Permissions, d decision) {
	if p.Clients != nil {
		clientRules(w, p.Clients.Items(), d)
		return
	}
	entryRules(w, entriesOf(p), d)
}

func entriesOf(p *permission.Permissions) []permission.Entry {
	if p.Rules == nil {
		return nil
	}
	return p.Rules.Entries()
}

// sizeHint returns about how many bytes a filter takes.
func sizeHint(p *permission.Permissions) int {
	const entry = 220 // an action, and its part of the list of a rule
	size := 4096
	for _, e := range entriesOf(p) {
		size += entry + len(e.KRI)
		if e.Match.SpiffeID != nil {
			size += len(e.Match.SpiffeID.Value)
		}
	}
	return min(size, MaxFilter)
}
