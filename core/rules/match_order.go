package rules

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

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
	case m.SpiffeID.Type == conf.SpiffeIDPrefix:
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

// matchesKey returns a text that is equal for matches that are equal as sets
// of conditions: in any order, repeated or not, server names and header names
// in any case.
func matchesKey(matches []conf.Match) string {
	keys := make([]string, len(matches))
	for i := range matches {
		keys[i] = matchKey(&matches[i])
	}
	return setKey(keys)
}

func matchKey(m *conf.Match) string {
	var parts []string
	add := func(words ...string) { parts = append(parts, setWord(words)) }
	if m.SpiffeID != nil {
		add("spiffeId", string(m.SpiffeID.Type), m.SpiffeID.Value)
	}
	if m.SNI != nil {
		add("sni", strings.ToLower(string(*m.SNI)))
	}
	if m.Path != nil {
		add("path", string(m.Path.Type), m.Path.Value)
	}
	if m.Method != nil {
		add("method", string(*m.Method))
	}
	for i := range m.Headers {
		h := &m.Headers[i]
		value := ""
		if h.Value != nil {
			value = *h.Value
		}
		add("header", strings.ToLower(string(h.Name)), string(h.How()), value)
	}
	return setKey(parts)
}

func setKey(words []string) string {
	slices.Sort(words)
	return setWord(slices.Compact(words))
}

// setWord joins words so that different lists give different texts.
func setWord(words []string) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strconv.Itoa(len(w)))
		b.WriteByte(':')
		b.WriteString(w)
	}
	return b.String()
}
