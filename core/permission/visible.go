package permission

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/request"
)

// visible returns the entries of the rules, in order, as an inbound of that
// protocol compares them (SPEC 7.5).
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
				if protocol == request.TCP && request.NeedsHTTP(match) {
					warnings = append(warnings, unseen(rule, list, j, match))
					if list != Deny {
						continue // it never matches
					}
					match = &conf.Match{SpiffeID: match.SpiffeID, SNI: match.SNI}
				}
				entries = append(entries, Entry{Place{rule.KRI, rule.Index, list, j}, match})
			}
		}
	}
	return entries, warnings
}

// unseen warns of an entry with conditions that a TCP inbound cannot see.
func unseen(rule *Rule, list List, index int, m *conf.Match) diag.Diagnostic {
	d := diag.Diagnostic{
		Pos:  rule.Pos,
		Path: fmt.Sprintf("spec.rules[%d].default.%s[%d]", rule.Index, list, index),
		What: "has HTTP conditions, which the TCP inbound cannot see: it never matches",
		Hint: "set the inbound's protocol, or select HTTP inbounds only",
	}
	switch {
	case list != Deny:
	case m.SpiffeID == nil && m.SNI == nil:
		d.What = "has only HTTP conditions, which the TCP inbound cannot see: it denies every client"
	default:
		d.What = "has HTTP conditions, which the TCP inbound cannot see: it denies on the rest of its conditions"
	}
	return d
}
