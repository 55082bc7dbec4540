package permission

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/strict"
)

// Protocol is what an inbound can see of a request.
type Protocol uint8

// The protocols: a TCP inbound sees the connection only, the client's SPIFFE
// ID and the SNI.
const (
	TCP Protocol = iota
	HTTP
)

// ProtocolOf returns the protocol of an inbound (SPEC 1.3).
func ProtocolOf(i *resource.Inbound) Protocol {
	if i.IsHTTP() {
		return HTTP
	}
	return TCP
}

// visible returns the entries of the rules, in order, as an inbound of that
// protocol compares them (SPEC 7.5).
func visible(protocol Protocol, rules []Rule) (entries []Entry, warnings []strict.Diagnostic) {
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
				if protocol == TCP && needsHTTP(match) {
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

func needsHTTP(m *conf.Match) bool { return m.Path != nil || m.Method != nil || len(m.Headers) > 0 }

// unseen warns of an entry with conditions that a TCP inbound can not see.
func unseen(rule *Rule, list List, index int, m *conf.Match) strict.Diagnostic {
	d := strict.Diagnostic{
		Pos:  rule.Pos,
		Path: fmt.Sprintf("spec.rules[%d].default.%s[%d]", rule.Index, list, index),
		What: "has HTTP conditions, which the TCP inbound can not see: it never matches",
		Hint: "set the inbound's protocol, or select HTTP inbounds only",
	}
	switch {
	case list != Deny:
	case m.SpiffeID == nil && m.SNI == nil:
		d.What = "has only HTTP conditions, which the TCP inbound can not see: it denies everyone"
	default:
		d.What = "has HTTP conditions, which the TCP inbound can not see: it denies on the rest of its conditions"
	}
	return d
}
