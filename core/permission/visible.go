package permission

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/request"
)

// visible returns the entries of the rules, in order, with the conditions that an
// inbound of the protocol compares (SPEC 7.5). There is at most one warning for
// each entry.
func visible(protocol request.Protocol, rules []Rule) (entries []Entry, warnings []diag.Diagnostic) {
	count := 0
	for i := range rules {
		for _, list := range ruleLists {
			count += len(rules[i].list(list))
		}
	}
	entries = make([]Entry, 0, count)
	for i := range rules {
		rule := &rules[i]
		for _, list := range ruleLists {
			matches := rule.list(list)
			for j := range matches {
				match := &matches[j]
				warn := func(code diag.Code, what, hint string) {
					warnings = append(warnings, diag.Diagnostic{
						Code: code,
						Pos:  rule.Pos,
						Path: fmt.Sprintf("spec.rules[%d].default.%s[%d]", rule.Index, list, j),
						What: what,
						Hint: hint,
					})
				}
				if protocol == request.TCP {
					seen, unseen := SeenByTCP(list, match)
					if unseen != "" {
						warn(UnseenCode(list), unseen, "set the inbound's protocol, or select HTTP inbounds only")
					}
					if seen == nil {
						continue
					}
					match = seen
				} else if what := evadable(list, match); what != "" {
					warn(diag.EvadableEntry, what, "decide by what a client cannot choose, such as spiffeId")
				}
				entries = append(entries, Entry{rule.place(list, j), match})
			}
		}
	}
	return entries, warnings
}

// UnseenCode returns the code of a finding about conditions of an entry that a TCP inbound
// cannot see. There, an entry that denies matches more requests; any other entry never
// matches.
func UnseenCode(list List) diag.Code {
	if list == Deny {
		return diag.BroaderOnTCP
	}
	return diag.UnseenEntry
}

// SeenByTCP returns the conditions of an entry that a TCP inbound compares, or nil if
// the entry never matches there (SPEC 7.5). The string unseen describes the conditions
// that the inbound cannot see; it is empty if the inbound sees all of them. In that
// case seen is m itself.
func SeenByTCP(list List, m *conf.Match) (seen *conf.Match, unseen string) {
	switch {
	case !request.NeedsHTTP(m):
		return m, ""
	case list != Deny:
		return nil, "has HTTP conditions, which the TCP inbound cannot see: it never matches"
	case m.SpiffeID == nil && m.SNI == nil:
		return &conf.Match{}, "has only HTTP conditions, which the TCP inbound cannot see: it denies every client"
	}
	return &conf.Match{SpiffeID: m.SpiffeID, SNI: m.SNI},
		"has HTTP conditions, which the TCP inbound cannot see: it denies by its remaining conditions"
}
