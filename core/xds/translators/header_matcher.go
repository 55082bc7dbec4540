package translators

import (
	"cmp"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/regex"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// headerMatcher returns a condition on a header, as routes have them. Envoy compares each
// line of the header by itself, and one that matches is enough (SPEC 7.2).
func headerMatcher(h *conf.HeaderMatch) *routev3.HeaderMatcher {
	m := &routev3.HeaderMatcher{Name: strings.ToLower(string(h.Name))}
	isHost := m.Name == "host"
	if isHost {
		m.Name = ":authority"
	}
	switch how := h.How(); {
	case how == conf.HeaderPresent || how == conf.HeaderAbsent:
		m.HeaderMatchSpecifier = &routev3.HeaderMatcher_PresentMatch{PresentMatch: how == conf.HeaderPresent}
	case isHost:
		authority := regex.MustParse(request.AuthorityExpression(h)).Authority()
		m.HeaderMatchSpecifier = &routev3.HeaderMatcher_StringMatch{StringMatch: &matcherv3.StringMatcher{
			MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: message.Regex(authority.Whole())},
		}}
	case how == conf.HeaderPrefix && *h.Value == "": // Envoy refuses an empty prefix
		m.HeaderMatchSpecifier = &routev3.HeaderMatcher_PresentMatch{PresentMatch: true}
	case how == conf.HeaderPrefix:
		m.HeaderMatchSpecifier = &routev3.HeaderMatcher_StringMatch{StringMatch: message.Prefix(*h.Value)}
	case how == conf.HeaderRegex:
		m.HeaderMatchSpecifier = &routev3.HeaderMatcher_StringMatch{StringMatch: expression(*h.Value)}
	default:
		m.HeaderMatchSpecifier = &routev3.HeaderMatcher_StringMatch{StringMatch: message.Exactly(*h.Value)}
	}
	return m
}

// methodMatcher returns the condition that the method of a request is one of the
// given ones.
func methodMatcher(methods ...string) *routev3.HeaderMatcher {
	match := message.Exactly(methods[0])
	if len(methods) > 1 {
		match = expression(strings.Join(methods, "|"))
	}
	return &routev3.HeaderMatcher{
		Name: ":method", HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{StringMatch: match},
	}
}

// expression returns the condition that a regular expression matches a whole text.
func expression(e string) *matcherv3.StringMatcher {
	return &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_SafeRegex{SafeRegex: regexMatcher(e)}}
}

// regexMatcher returns the form of a regular expression, which passed validation,
// that Envoy compares with a whole text.
func regexMatcher(e string) *matcherv3.RegexMatcher {
	const empty = "()" // Envoy refuses an expression without characters
	return message.Regex(cmp.Or(regex.MustParse(e).Whole(), empty))
}
