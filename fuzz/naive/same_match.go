package naive

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
)

// sameMatches compares as sets (SPEC 7.1): order and repetition are ignored.
func sameMatches(a, b []conf.Match) bool {
	return sameSet(matchTexts(a), matchTexts(b))
}

func matchTexts(matches []conf.Match) []string {
	var texts []string
	for i := range matches {
		texts = append(texts, matchText(&matches[i]))
	}
	return texts
}

// matchText returns the same text for equal matches. It ignores the letter case of
// server names and header names; headers are a set, and an absent type is Exact.
func matchText(m *conf.Match) string {
	parts := []string{}
	if m.SpiffeID != nil {
		parts = append(parts, "spiffeId", string(m.SpiffeID.Type), m.SpiffeID.Value)
	}
	if m.SNI != nil {
		parts = append(parts, "sni", strings.ToLower(string(*m.SNI)))
	}
	if m.Path != nil {
		parts = append(parts, "path", string(m.Path.Type), m.Path.Value)
	}
	if m.Method != nil {
		parts = append(parts, "method", string(*m.Method))
	}
	var headers []string
	for i := range m.Headers {
		headers = append(headers, headerText(&m.Headers[i]))
	}
	parts = append(parts, "headers")
	parts = append(parts, distinct(headers)...)
	return fmt.Sprintf("%q", parts)
}

func headerText(h *conf.HeaderMatch) string {
	kind, value := "Exact", ""
	if h.Type != nil {
		kind = string(*h.Type)
	}
	if h.Value != nil {
		value = "=" + *h.Value
	}
	return fmt.Sprintf("%q", []string{strings.ToLower(string(h.Name)), kind, value})
}

// distinct returns the sorted distinct texts. The result is never nil.
func distinct(texts []string) []string {
	seen := map[string]bool{}
	list := []string{}
	for _, text := range texts {
		if !seen[text] {
			seen[text] = true
			list = append(list, text)
		}
	}
	sort.Strings(list)
	return list
}

func sameSet(a, b []string) bool {
	return slices.Equal(distinct(a), distinct(b))
}
