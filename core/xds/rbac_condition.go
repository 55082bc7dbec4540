package xds

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/permission"
)

// text is how a text is compared.
type text struct {
	how   textHow
	value string
}

type textHow uint8

const (
	textExact textHow = iota
	textPrefix
	textRegex // RE2, to the whole
	textAny
)

// vocabulary is what a form of the filter can say; T is a condition on a
// request.
type vocabulary[T any] interface {
	// clientURI is a condition on the URI of the client's certificate.
	clientURI(t text) T
	serverName(name string) T
	// path is a condition on the path without the query.
	path(p *conf.PathMatch) T
	// header is a condition on a header, whose name is in lower case; one that
	// is absent does not match.
	header(name string, t text) T
	not(c T) T
	// all and any take two conditions at least.
	all(cs []T) T
	any(cs []T) T
}

// anyOf returns the condition that one of the alternatives holds.
func anyOf[T any](v vocabulary[T], alternatives []T) T {
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	return v.any(alternatives)
}

// allOf returns the condition that all of the conditions hold.
func allOf[T any](v vocabulary[T], conditions []T) T {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return v.all(conditions)
}

// appendMatch appends the alternatives under which a match, which must not be
// empty, holds.
func appendMatch[T any](dst []T, v vocabulary[T], m *conf.Match) []T {
	if m.SpiffeID != nil && m.SNI == nil && m.Path == nil && m.Method == nil && len(m.Headers) == 0 {
		return appendSpiffeID(dst, v, m.SpiffeID)
	}
	var conditions []T
	if m.SpiffeID != nil {
		conditions = append(conditions, anyOf(v, appendSpiffeID(nil, v, m.SpiffeID)))
	}
	if m.SNI != nil {
		conditions = append(conditions, v.serverName(serverName(m)))
	}
	if m.Path != nil {
		conditions = append(conditions, v.path(m.Path))
	}
	if m.Method != nil {
		conditions = append(conditions, v.header(":method", text{textExact, string(*m.Method)}))
	}
	for i := range m.Headers {
		conditions = append(conditions, headerCondition(v, &m.Headers[i]))
	}
	return append(dst, allOf(v, conditions))
}

// serverName returns the SNI in lower case, as Envoy has it.
func serverName(m *conf.Match) string { return strings.ToLower(string(*m.SNI)) }

// appendSpiffeID appends the ID, and for a prefix what lies below it.
func appendSpiffeID[T any](dst []T, v vocabulary[T], m *conf.SpiffeIDMatch) []T {
	if m.Type == conf.SpiffeIDExact {
		return append(dst, v.clientURI(text{textExact, m.Value}))
	}
	prefix := permission.Segments(m.Value)
	return append(dst, v.clientURI(text{textExact, prefix}), v.clientURI(text{textPrefix, prefix + "/"}))
}

func headerCondition[T any](v vocabulary[T], h *conf.HeaderMatch) T {
	name := strings.ToLower(string(h.Name))
	switch h.How() {
	case conf.HeaderAbsent:
		return v.not(v.header(name, text{how: textAny}))
	case conf.HeaderPresent:
		return v.header(name, text{how: textAny})
	case conf.HeaderPrefix:
		return v.header(name, prefixText(*h.Value))
	case conf.HeaderRegex:
		return v.header(name, regexText(*h.Value))
	}
	return v.header(name, text{textExact, *h.Value})
}

// prefixText is a comparison of the beginning. Envoy refuses an empty one.
func prefixText(value string) text {
	if value == "" {
		return text{how: textAny}
	}
	return text{textPrefix, value}
}

// regexText is a comparison of the whole. Envoy refuses an empty one.
func regexText(expression string) text {
	if expression == "" {
		return text{textExact, ""}
	}
	return text{textRegex, portableRegex(expression)}
}
