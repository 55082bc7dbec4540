package request

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

// Matches reports whether a request to an inbound of the protocol meets every
// condition of a match (SPEC 7.2). It compiles the match each time.
func Matches(m *conf.Match, protocol Protocol, r *Request, scope ValueScope) bool {
	if protocol == TCP && NeedsHTTP(m) {
		return false // the inbound cannot see the condition
	}
	seen := NewSeen(r)
	return SpiffeIDMatches(m.SpiffeID, r.SpiffeID) && NewCondition(m, scope, Expressions{}).Holds(&seen)
}

// SpiffeIDMatches reports whether a client's SPIFFE ID meets a condition; nil
// always holds.
func SpiffeIDMatches(m *conf.SpiffeIDMatch, id string) bool {
	switch {
	case m == nil:
		return true
	case m.Type == conf.SpiffeIDPrefix:
		return IsBelow(TrimSlash(m.Value), id)
	case m.Type == conf.SpiffeIDTextPrefix:
		return strings.HasPrefix(id, m.Value)
	}
	return m.Value == id
}

// SpiffeIDCovers reports whether every SPIFFE ID that meets b meets a. If neither of two
// conditions covers the other, no ID meets both.
func SpiffeIDCovers(a, b *conf.SpiffeIDMatch) bool {
	switch {
	case a.Type == conf.SpiffeIDTextPrefix && b.Type == conf.SpiffeIDPrefix:
		return strings.HasPrefix(TrimSlash(b.Value), a.Value)
	case a.Type == conf.SpiffeIDTextPrefix:
		return strings.HasPrefix(b.Value, a.Value)
	case a.Type == conf.SpiffeIDPrefix && b.Type == conf.SpiffeIDTextPrefix:
		return strings.HasPrefix(b.Value, TrimSlash(a.Value)+"/")
	case a.Type == conf.SpiffeIDPrefix:
		return IsBelow(TrimSlash(a.Value), TrimSlash(b.Value))
	}
	return *a == *b
}
