package permission

import "github.com/meshmatch/meshmatch/core/conf"

// Matches reports whether a request to an inbound of that protocol meets every
// condition of a match (SPEC 7.2). It compiles the match each time; to decide
// about many requests make a [DecisionList].
func Matches(m *conf.Match, protocol Protocol, r *Request) bool {
	if protocol == TCP && needsHTTP(m) {
		return false // it can not be seen
	}
	return spiffeIDMatches(m.SpiffeID, r.SpiffeID) && newCondition(m, expressions{}).holds(r)
}

func spiffeIDMatches(m *conf.SpiffeIDMatch, id string) bool {
	switch {
	case m == nil:
		return true
	case m.Type == conf.SpiffeIDPrefix:
		return isBelow(Segments(m.Value), id)
	}
	return m.Value == id
}
