package xds

import (
	xdsmatcher "github.com/cncf/xds/go/xds/type/matcher/v3"

	"github.com/meshmatch/meshmatch/core/permission"
)

// defaultPolicy is the name of the denial where nothing matches (SPEC 7.4).
const defaultPolicy = "default"

// entryMatcher returns the matcher of one decision: one matcher per rule that
// denies, then one per rule that allows, each action named by the policy's KRI;
// no match: denied. Where rules name many identities, those stand in maps.
func entryMatcher(entries []permission.Entry, v view) *xdsmatcher.Matcher {
	rules, last := untilCertain(inOrder(entries, v))
	var stages []stage
	p := &predicates{}
	actions := newActions(rules)
	for _, planned := range plan(rules) {
		mapped := 0
		for _, r := range planned {
			mapped += len(r.mapped)
		}
		s := stage{ids: make(map[string]*xdsmatcher.Matcher_OnMatch, mapped)}
		for _, r := range planned {
			action := actions[r.rule]
			for _, id := range r.mapped {
				if _, known := s.ids[id]; !known {
					s.ids[id] = action
				}
			}
			var alternatives []predicate
			for _, e := range r.listed {
				alternatives = appendMatch(alternatives, p, e.Match)
			}
			if len(alternatives) > 0 {
				s.list = append(s.list, &xdsmatcher.Matcher_MatcherList_FieldMatcher{Predicate: anyOf(p, alternatives), OnMatch: action})
			}
		}
		stages = append(stages, s)
	}
	return chain(stages, last)
}

// untilCertain cuts the rules off at the first that matches every request and
// returns what is then to be done; that is to deny by default where there is
// none.
func untilCertain(rules []ruleEntries) ([]ruleEntries, *xdsmatcher.Matcher_OnMatch) {
	for i, r := range rules {
		for _, e := range r.entries {
			if e.Match.Empty() {
				return rules[:i], onMatch(r.kri, r.deny)
			}
		}
	}
	return rules, onMatch(defaultPolicy, true)
}

// newActions returns the action of each rule. Rules of one policy share it.
func newActions(rules []ruleEntries) []*xdsmatcher.Matcher_OnMatch {
	out := make([]*xdsmatcher.Matcher_OnMatch, len(rules))
	for i, r := range rules {
		if i > 0 && rules[i-1].kri == r.kri && rules[i-1].deny == r.deny {
			out[i] = out[i-1]
		} else {
			out[i] = onMatch(r.kri, r.deny)
		}
	}
	return out
}

// stage is identities to look up, then matchers of which the first counts.
type stage struct {
	ids  map[string]*xdsmatcher.Matcher_OnMatch
	list []*xdsmatcher.Matcher_MatcherList_FieldMatcher
}

// chain returns the matcher that asks the stages one after the other.
func chain(stages []stage, last *xdsmatcher.Matcher_OnMatch) *xdsmatcher.Matcher {
	next := last
	var m *xdsmatcher.Matcher
	ask := func(outer *xdsmatcher.Matcher) {
		outer.OnNoMatch = next
		m = outer
		next = &xdsmatcher.Matcher_OnMatch{OnMatch: &xdsmatcher.Matcher_OnMatch_Matcher{Matcher: m}}
	}
	for i := len(stages) - 1; i >= 0; i-- {
		if list := stages[i].list; len(list) > 0 {
			ask(&xdsmatcher.Matcher{MatcherType: &xdsmatcher.Matcher_MatcherList_{MatcherList: &xdsmatcher.Matcher_MatcherList{Matchers: list}}})
		}
		if ids := stages[i].ids; len(ids) > 0 {
			ask(&xdsmatcher.Matcher{MatcherType: &xdsmatcher.Matcher_MatcherTree_{MatcherTree: &xdsmatcher.Matcher_MatcherTree{
				Input:    clientURIInput(),
				TreeType: &xdsmatcher.Matcher_MatcherTree_ExactMatchMap{ExactMatchMap: &xdsmatcher.Matcher_MatcherTree_MatchMap{Map: ids}},
			}}})
		}
	}
	if m == nil { // nothing to ask
		m = &xdsmatcher.Matcher{OnNoMatch: last}
	}
	return m
}
