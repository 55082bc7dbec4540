package permission

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/request"
)

// Shadowed returns the entries that change nothing on this inbound, in order:
// whatever one of them matches, another single entry matches too and decides,
// so that without it each decision and shadow decision allows the same. Entries
// that only several others together cover are not found.
func (l *DecisionList) Shadowed() []Entry {
	var out []Entry
	chains := l.chains()
	for i := range l.entries {
		if chains.shadowed(l.entries, int32(i)) {
			out = append(out, l.entries[i])
		}
	}
	return out
}

// shadowed searches the chains that can match what entry i matches. A deny entry
// of any rule decides before the entries that allow; those decide in order. An
// allow does not hide an allowWithShadowDeny, which denies in the shadow
// decision. An entry that denies holds for parts of a header's value, so it
// covers an entry that allows with equal conditions, and not the reverse.
func (l *lookup) shadowed(entries []Entry, i int32) bool {
	entry := &entries[i]
	for _, chains := range l.covering(entry.Match.SpiffeID) {
		for list, j := range chains {
			for ; j != end; j = l.links[j].next {
				if j == i || List(list) == Allow && entry.List == AllowWithShadowDeny {
					continue
				}
				first := j < i && (List(list) == Deny) == (entry.List == Deny) || List(list) == Deny && entry.List != Deny
				if first && covers(entries[j].Match, entry.Match) {
					return true
				}
			}
		}
	}
	return false
}

// covering returns the chains whose SPIFFE ID condition holds wherever id's
// does.
func (l *lookup) covering(id *conf.SpiffeIDMatch) []heads {
	chains := []heads{l.anyID}
	if id == nil {
		return chains
	}
	value := id.Value
	if id.Type == conf.SpiffeIDPrefix {
		value = request.TrimSlash(value)
	} else if h, ok := l.exact[value]; ok {
		chains = append(chains, h)
	}
	for prefix := range request.Prefixes(value, l.longest) {
		if h, ok := l.below[prefix]; ok {
			chains = append(chains, h)
		}
	}
	return chains
}

// covers reports whether the conditions of a other than the SPIFFE ID hold
// wherever those of b do.
func covers(a, b *conf.Match) bool {
	return (a.SNI == nil || b.SNI != nil && strings.EqualFold(string(*a.SNI), string(*b.SNI))) &&
		(a.Method == nil || b.Method != nil && *a.Method == *b.Method) &&
		(a.Path == nil || b.Path != nil && pathCovers(a.Path, b.Path)) &&
		!slices.ContainsFunc(a.Headers, func(h conf.HeaderMatch) bool {
			return !slices.ContainsFunc(b.Headers, func(other conf.HeaderMatch) bool { return headerCovers(&h, &other) })
		})
}

func pathCovers(a, b *conf.PathMatch) bool {
	switch {
	case a.Type == conf.PathPrefix && b.Type == conf.PathPrefix:
		return request.IsBelow(request.TrimSlash(a.Value), request.TrimSlash(b.Value))
	case a.Type == conf.PathPrefix && b.Type == conf.PathExact:
		return request.IsBelow(request.TrimSlash(a.Value), b.Value)
	}
	return *a == *b
}

func headerCovers(a, b *conf.HeaderMatch) bool {
	if !strings.EqualFold(string(a.Name), string(b.Name)) {
		return false
	}
	if a.How() == conf.HeaderPresent {
		return b.How() != conf.HeaderAbsent
	}
	return a.How() == b.How() && (a.Value == nil || *a.Value == *b.Value)
}
