package blocks

import (
	"cmp"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
)

// compareSpecificity orders matches, more specific first (SPEC 7.1): SPIFFE
// ID exact, prefix (longer first), none; SNI; then the order of the Gateway
// API: path exact, prefix (longer first), regular expression, none; method;
// number of headers.
func compareSpecificity(a, b *conf.Match) int {
	return cmp.Or(
		cmp.Compare(spiffeRank(a), spiffeRank(b)),
		cmp.Compare(spiffePrefixLength(b), spiffePrefixLength(a)),
		present(a.SNI != nil, b.SNI != nil),
		cmp.Compare(pathRank(a), pathRank(b)),
		cmp.Compare(pathPrefixLength(b), pathPrefixLength(a)),
		present(a.Method != nil, b.Method != nil),
		cmp.Compare(len(b.Headers), len(a.Headers)),
	)
}

func present(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

func spiffeRank(m *conf.Match) int {
	switch {
	case m.SpiffeID == nil:
		return 2
	case m.SpiffeID.Type.IsPrefix():
		return 1
	}
	return 0
}

func spiffePrefixLength(m *conf.Match) int {
	if spiffeRank(m) != 1 {
		return 0
	}
	return len(m.SpiffeID.Value)
}

func pathRank(m *conf.Match) int {
	if m.Path == nil {
		return 3
	}
	return slices.Index([]conf.PathMatchType{conf.PathExact, conf.PathPrefix, conf.PathRegex}, m.Path.Type)
}

func pathPrefixLength(m *conf.Match) int {
	if pathRank(m) != 1 {
		return 0
	}
	return len(m.Path.Value)
}
