package why

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// entryKey identifies an entry of permissions in any view.
type entryKey struct {
	policy resource.ID
	rule   int
	list   permission.List
	index  int
}

func keyOf(p *permission.Place) entryKey { return entryKey{p.Policy.ID, p.Rule, p.List, p.Index} }

// ignoring returns the reason why a field that a policy sets by itself is ignored, or
// "" if it is not.
func (s *setFields) ignoring(f *setField) string {
	if f.section != s.config.Kind.From || f.place.Inbound == nil && f.place.Listener == nil || f.place.Match != nil {
		return ""
	}
	if !s.points[f.inbound].FromIgnored {
		return ""
	}
	return "`from` has no effect on an inbound for which other policies have rules"
}

// overriding returns the item or entry that overrides a field that a policy sets by
// itself, or nil if the field is in effect.
func (s *setFields) overriding(f *setField) *overrider {
	if f.entry != nil && s.config.Kind.Name == permission.KindName {
		return s.decidingInstead(f)
	}
	var nearest *setField
	for _, i := range s.byGroup[f.group()] {
		o := &s.list[i]
		if f.same(o) {
			return nil
		}
		if nearest == nil || sharedTokens(o.field, f.field) > sharedTokens(nearest.field, f.field) {
			nearest = o
		}
	}
	switch {
	case f.section == s.config.Kind.From && s.points[f.inbound].From != nil:
		return s.overridingClient(f)
	case nearest != nil:
		return &nearest.overrider
	}
	return s.firstRule(f)
}

// sharedTokens returns the number of leading tokens that two JSON pointers share. A
// choice such as /type is next to the fields that it drops.
func sharedTokens(a, b string) int {
	x, y := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// firstRule returns the rule that applies to the match of a field, if it is not the rule
// of the field. A rule with additional matches is not merged with it (SPEC 7.1).
func (s *setFields) firstRule(f *setField) *overrider {
	if f.place.Match == nil {
		return nil
	}
	for at := s.config.Matched.Len() - 1; at >= 0; at-- {
		m := s.config.Matched.At(at)
		if !m.Inbounds.Has(f.inbound) {
			continue
		}
		for i := range m.Policy.Rules {
			if hasMatch(&m.Policy.Rules[i], f.place.Match) {
				return &overrider{Origin: results.Origin{Policy: m.Policy, Index: i}, section: s.config.Kind.Rules}
			}
		}
	}
	return nil
}

// hasMatch reports whether a rule is for a match.
func hasMatch(r *resource.Rule, match *conf.Match) bool {
	if len(r.Matches) == 0 {
		return match.Empty()
	}
	return slices.ContainsFunc(r.Matches, func(m conf.Match) bool { return m.Key() == match.Key() })
}

// overridingClient returns the item that overrides a field of a `from` item for a
// client.
func (s *setFields) overridingClient(f *setField) *overrider {
	if len(s.errs) > 0 { // some fields of clients are unknown
		return nil
	}
	e := s.points[f.inbound].From.Client(exampleClient(f.selector))
	if e == nil {
		return nil
	}
	var by *overrider
	shared := 0
	for pointer, origin := range e.Fields() {
		if n := sharedTokens(pointer, f.field); n > shared {
			by, shared = &overrider{Origin: origin, section: f.section}, n
		}
	}
	return by
}

// exampleClient returns the tags of a client that a selector selects.
func exampleClient(selector partition.Selector) map[string]string {
	client := map[string]string{}
	for _, r := range selector {
		switch {
		case r.Kind == partition.Is:
			client[r.Key] = r.Value
		case r.Kind == partition.Exists && len(r.Not) > 0:
			client[r.Key] = r.Not[len(r.Not)-1] + "-" // the last value is the greatest
		case r.Kind == partition.Exists:
			client[r.Key] = "any"
		}
	}
	return client
}

// decidingInstead returns the entry that decides the requests of a field's entry, if that
// entry decides no request itself.
func (s *setFields) decidingInstead(f *setField) *overrider {
	if f.inbound >= len(s.d.Inbounds) { // the requests to an egress depend on the external service
		return nil
	}
	p := permission.ForInbound(s.config, s.d, f.inbound)
	decides, known := s.decides[f.inbound]
	if !known {
		if places, _ := requests.Deciding(p, s.limits); places != nil {
			decides = map[entryKey]bool{}
			for place := range places {
				decides[keyOf(&place)] = true
			}
		}
		s.decides[f.inbound] = decides
	}
	if decides == nil || decides[keyOf(f.entry)] {
		return nil
	}
	list := access.ListOf(p)
	for i := range list.Entries {
		entry := &list.Entries[i]
		if entry.By == nil || keyOf(entry.By) != keyOf(f.entry) {
			continue
		}
		space := &access.Space{Protocol: request.ProtocolOf(s.d, f.inbound)}
		regions, err := access.Regions(space, list, access.Matching(entry.Match, entry.Tags), s.limits)
		if err != nil {
			return nil
		}
		for _, region := range regions {
			if region.By != nil {
				return &overrider{entry: region.By}
			}
		}
	}
	return nil
}
