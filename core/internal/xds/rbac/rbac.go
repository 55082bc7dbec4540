package rbac

import (
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/anypb"

	// The types of the messages in filters, which printing their JSON needs.
	_ "github.com/cncf/xds/go/xds/type/matcher/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/permission"
)

// Form is the form in which a filter expresses which requests are allowed.
type Form uint8

const (
	// MatcherForm is a matcher tree whose actions have the names of policies.
	MatcherForm Form = iota
	// CharacterMatcherForm is the same for releases whose regular expressions compare
	// characters in place of bytes (SPEC 18.3).
	CharacterMatcherForm
	// RulesForm is policies with principals. gRPC reads nothing else: for gRPC, a
	// filter that has only a matcher allows every client.
	RulesForm
)

// The names of Envoy's filters.
const (
	HTTPFilterName    = message.HTTPPermissionFilter
	NetworkFilterName = "envoy.filters.network.rbac"
)

// MaxFilter is the maximum size of a filter in bytes.
const MaxFilter = 16 << 20

// ErrTooLarge indicates that a filter would be larger than [MaxFilter] (SPEC
// 7.6).
var ErrTooLarge = errors.New("the filter has more than 16 MiB; use fewer entries, or prefixes of SPIFFE IDs")

// New returns the filter of an inbound: an HTTP filter for an HTTP inbound, a network
// filter for a TCP inbound. The statistics of the network filter have statPrefix, which
// must not be empty and ends in a dot; the statistics of the HTTP filter have the prefix of
// its connection manager. The error is [ErrTooLarge].
func New(p *permission.Permissions, form Form, statPrefix string) (Filter, error) {
	w := &writer{data: make([]byte, 0, sizeHint(p))}
	decisions := []decision{enforced}
	if p.Rules != nil && p.Rules.HasShadow() || p.Clients != nil && p.Clients.HasShadow() {
		decisions = append(decisions, shadow)
	}
	name, url, fields := filterOf(p.Protocol)
	fields.write(w, form, statPrefix, decisions, func(d decision) {
		switch {
		case p.Clients != nil && form == RulesForm:
			clientRules(w, p.Clients.Items(), d)
		case p.Clients != nil:
			clientMatcher(w, p.Clients.Items(), form, d)
		case form == RulesForm:
			entryRules(w, p.Rules, d)
		default:
			entryMatcher(w, p.Rules, form, d)
		}
	})
	if w.full || len(w.data) > MaxFilter {
		return Filter{}, ErrTooLarge
	}
	return Filter{name, &anypb.Any{TypeUrl: url, Value: w.data}}, nil
}

// LimitName is the name of the filter that DenyAll returns, and of its action.
const LimitName = "limit"

// DenyAll returns the filter of an inbound whose permissions exceed a limit. It denies
// every request (SPEC 11.2).
func DenyAll(protocol request.Protocol, form Form, statPrefix string) Filter {
	w := &writer{}
	_, url, fields := filterOf(protocol)
	fields.write(w, form, statPrefix, []decision{enforced}, func(decision) {
		if form != RulesForm { // the rules form without policies denies already
			m := &matcherWriter{writer: w}
			m.onMatch(matcherOnNoMatch, action{policy: LimitName, deny: true})
		}
	})
	return Filter{LimitName, &anypb.Any{TypeUrl: url, Value: w.data}}
}

// filterOf returns the name, the type and the fields of the filter of an inbound.
func filterOf(protocol request.Protocol) (name, url string, fields rbacFields) {
	if protocol == request.TCP {
		return NetworkFilterName, "type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC",
			rbacFields{rules: [...]protowire.Number{1, 2}, statPrefix: 3, matcher: [...]protowire.Number{6, 7}}
	}
	return HTTPFilterName, "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC",
		rbacFields{rules: [...]protowire.Number{1, 2}, matcher: [...]protowire.Number{4, 5}}
}

// rbacFields are the numbers of the fields of one of the two filters, in their order. The
// fields of a form have one number for each decision.
type rbacFields struct {
	rules      [2]protowire.Number
	statPrefix protowire.Number // 0: the filter has none
	matcher    [2]protowire.Number
}

// write writes the fields of a filter. Body writes the fields for one decision.
func (f rbacFields) write(w *writer, form Form, statPrefix string, decisions []decision, body func(decision)) {
	if form == RulesForm {
		for _, d := range decisions {
			w.message(f.rules[d], func() { body(d) })
		}
	}
	if f.statPrefix != 0 {
		w.text(f.statPrefix, statPrefix)
	}
	if form != RulesForm {
		for _, d := range decisions {
			w.message(f.matcher[d], func() { body(d) })
		}
	}
}

func entriesOf(list *permission.DecisionList) []permission.Entry {
	if list == nil {
		return nil
	}
	return list.Entries()
}

// sizeHint estimates the size of a filter in bytes.
func sizeHint(p *permission.Permissions) int {
	const entry = 220 // an action, and its part of the list of a rule
	size := 256
	for _, e := range entriesOf(p.Rules) {
		size += entry + len(e.KRI)
		if e.Match.SpiffeID != nil {
			size += len(e.Match.SpiffeID.Value)
		}
	}
	return min(size, MaxFilter)
}
