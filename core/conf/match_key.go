package conf

import (
	"slices"
	"strconv"
	"strings"
)

// MatchesKey returns the same text for matches that are equal as sets of
// conditions (SPEC 7.1). The order, repetitions and the letter case of server and
// header names make no difference.
func MatchesKey(matches []Match) string {
	keys := make([]string, len(matches))
	for i := range matches {
		keys[i] = matches[i].Key()
	}
	return setKey(keys)
}

// Key returns the [MatchesKey] of one match.
func (m *Match) Key() string {
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
