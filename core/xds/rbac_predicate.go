package xds

import (
	xdscore "github.com/cncf/xds/go/xds/core/v3"
	xdsmatcher "github.com/cncf/xds/go/xds/type/matcher/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/permission"
)

// predicate is a condition of the matcher form.
type predicate = *xdsmatcher.Matcher_MatcherList_Predicate

// predicates is the vocabulary of the matcher form.
type predicates struct{ free []comparison }

// comparison is one text comparison with everything that it consists of: one
// allocation serves many, where policies name thousands of identities.
type comparison struct {
	predicate xdsmatcher.Matcher_MatcherList_Predicate
	kind      xdsmatcher.Matcher_MatcherList_Predicate_SinglePredicate_
	single    xdsmatcher.Matcher_MatcherList_Predicate_SinglePredicate
	value     xdsmatcher.Matcher_MatcherList_Predicate_SinglePredicate_ValueMatch
	matcher   xdsmatcher.StringMatcher
	exact     xdsmatcher.StringMatcher_Exact
}

func (p *predicates) compare(input *xdscore.TypedExtensionConfig, t text) predicate {
	if len(p.free) == 0 {
		p.free = make([]comparison, 32)
	}
	c := &p.free[0]
	p.free = p.free[1:]
	switch t.how {
	case textExact:
		c.exact.Exact = t.value
		c.matcher.MatchPattern = &c.exact
	case textPrefix:
		c.matcher.MatchPattern = &xdsmatcher.StringMatcher_Prefix{Prefix: t.value}
	case textRegex:
		c.matcher.MatchPattern = regexPattern(t.value)
	case textAny:
		c.matcher.MatchPattern = regexPattern(`\C*`) // of any bytes
	}
	c.value.ValueMatch = &c.matcher
	c.single.Input, c.single.Matcher = input, &c.value
	c.kind.SinglePredicate = &c.single
	c.predicate.MatchType = &c.kind
	return &c.predicate
}

func regexPattern(expression string) *xdsmatcher.StringMatcher_SafeRegex {
	return &xdsmatcher.StringMatcher_SafeRegex{SafeRegex: &xdsmatcher.RegexMatcher{
		EngineType: &xdsmatcher.RegexMatcher_GoogleRe2{GoogleRe2: &xdsmatcher.RegexMatcher_GoogleRE2{}},
		Regex:      expression,
	}}
}

func (p *predicates) clientURI(t text) predicate { return p.compare(clientURIInput(), t) }

func (p *predicates) serverName(name string) predicate {
	return p.compare(serverNameInput(), text{textExact, name})
}

func (p *predicates) header(name string, t text) predicate { return p.compare(headerInput(name), t) }

// path compares Envoy's :path, which has the query.
func (p *predicates) path(m *conf.PathMatch) predicate {
	input := headerInput(":path")
	compare := func(how textHow, value string) predicate { return p.compare(input, text{how, value}) }
	switch m.Type {
	case conf.PathRegex:
		return compare(textRegex, pathRegex(m.Value))
	case conf.PathPrefix:
		prefix := permission.Segments(m.Value)
		if prefix == "" {
			return compare(textPrefix, "/")
		}
		return p.any([]predicate{compare(textExact, prefix), compare(textPrefix, prefix+"/"), compare(textPrefix, prefix+"?")})
	}
	return p.any([]predicate{compare(textExact, m.Value), compare(textPrefix, m.Value+"?")})
}

func (*predicates) not(c predicate) predicate {
	return &xdsmatcher.Matcher_MatcherList_Predicate{MatchType: &xdsmatcher.Matcher_MatcherList_Predicate_NotMatcher{NotMatcher: c}}
}

func (*predicates) all(cs []predicate) predicate {
	return &xdsmatcher.Matcher_MatcherList_Predicate{MatchType: &xdsmatcher.Matcher_MatcherList_Predicate_AndMatcher{
		AndMatcher: &xdsmatcher.Matcher_MatcherList_Predicate_PredicateList{Predicate: cs},
	}}
}

func (*predicates) any(cs []predicate) predicate {
	return &xdsmatcher.Matcher_MatcherList_Predicate{MatchType: &xdsmatcher.Matcher_MatcherList_Predicate_OrMatcher{
		OrMatcher: &xdsmatcher.Matcher_MatcherList_Predicate_PredicateList{Predicate: cs},
	}}
}
