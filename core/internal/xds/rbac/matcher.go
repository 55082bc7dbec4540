package rbac

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/meshmatch/meshmatch/core/permission"
)

// entryMatcher writes the matcher of one decision: one matcher for each rule that denies,
// then one for each rule that allows. Each action has the policy's KRI as its name. If
// there are many SPIFFE IDs, they are in maps. Requests that are decided separately come
// first.
func entryMatcher(out *writer, list *permission.DecisionList, form Form, d decision) {
	w := &matcherWriter{writer: out, inputs: map[input][]byte{}}
	t := newTranslation(form)
	rules := inOrder(entriesOf(list), d)
	some, last := untilCertain(rules, d)
	if !list.AsksForPath() || len(some) == 0 && last == d.byDefault() { // in the latter case all requests are decided alike
		w.fields(t, rules, d)
		return
	}
	w.firstOf([]branch{{when: anyOf(beyondASCII, escapedSlash), do: d.byDefault()}}, nil)
	w.message(matcherOnNoMatch, func() {
		w.message(onMatchMatcher, func() { w.fields(t, rules, d) })
	})
}

// beyondASCII is the condition that the path of a request has a byte beyond ASCII. A
// regular expression compares such a path byte by byte.
var beyondASCII = allOf(
	comparison(header(":path"), textAny, ""),
	negation(comparison(header(":path"), textRegex, `[\x00->@-\x7f]*(?:\?\C*)?`)),
)

// escapedSlash is the condition that a request's path has an escaped slash, backslash or dot, or parameters of a segment
// that is empty, . or .. without them. The workload may decode it, and then the path is not the one that the entries were
// compared with (SPEC 11.2).
var escapedSlash = comparison(header(":path"), textRegex, `[\x00->@-\x7f]*(?:%(?:2[eEfF]|5[cC])|/\.{0,2};)\C*`)

// branch is an element of a list of matchers.
type branch struct {
	when *condition
	do   action
	next func(field protowire.Number) // if not nil, writes a matcher instead of the action
}

// firstOf writes the fields of a matcher: the first branch whose condition holds applies,
// or last if there is none. If last is nil, it is not written.
func (w *matcherWriter) firstOf(branches []branch, last *action) {
	if len(branches) > 0 {
		w.message(matcherList, func() {
			for _, b := range branches {
				w.branch(b)
			}
		})
	}
	if last != nil {
		w.onMatch(matcherOnNoMatch, *last)
	}
}

func (w *matcherWriter) branch(b branch) {
	w.message(listMatchers, func() {
		w.predicate(fieldPredicate, b.when)
		if b.next == nil {
			w.onMatch(fieldOnMatch, b.do)
		} else {
			w.message(fieldOnMatch, func() { b.next(onMatchMatcher) })
		}
	})
}

// fields writes the fields of a matcher of rules.
func (w *matcherWriter) fields(t *translation, rules []ruleEntries, d decision) {
	rules, last := untilCertain(rules, d)
	w.stages(t, rules, plan(rules), last)
}

// untilCertain returns the rules before the first one that matches every request, and the
// action of that one. If there is none, it returns all rules and the default action.
func untilCertain(rules []ruleEntries, d decision) ([]ruleEntries, action) {
	for i, r := range rules {
		for _, e := range r.entries {
			if e.Match.Empty() {
				return rules[:i], action{policy: r.kri, deny: r.deny}
			}
		}
	}
	return rules, d.byDefault()
}

// stages writes the fields of the matcher that compares the stages in order.
func (w *matcherWriter) stages(t *translation, rules []ruleEntries, stages [][]stageRule, last action) {
	if len(stages) == 0 {
		w.onMatch(matcherOnNoMatch, last)
		return
	}
	stage, rest := stages[0], stages[1:]
	next := func() {
		if len(rest) == 0 {
			w.onMatch(matcherOnNoMatch, last)
		} else {
			w.message(matcherOnNoMatch, func() { w.message(onMatchMatcher, func() { w.stages(t, rules, rest, last) }) })
		}
	}
	ids := idsOf(rules, stage)
	if len(ids) == 0 {
		w.list(t, rules, stage, false)
		next()
		return
	}
	w.message(matcherTree, func() {
		w.input(treeInput, input{kind: clientURI})
		w.message(treeExactMap, func() { w.idMap(ids) })
	})
	w.message(matcherOnNoMatch, func() {
		w.message(onMatchMatcher, func() {
			w.list(t, rules, stage, true)
			next()
		})
	})
}

// list writes the list of a stage; the first match decides. It has the entries that are not
// in the map, and the identities of the map again: the map does not find clients with
// further URI SANs.
func (w *matcherWriter) list(t *translation, rules []ruleEntries, stage []stageRule, mapped bool) {
	w.message(matcherList, func() {
		if mapped {
			if lists, some := idLists(stage); some {
				w.branch(branch{
					when: comparison(input{kind: clientURI}, textRegex, severalURIs),
					next: func(field protowire.Number) {
						w.message(field, func() { w.message(matcherList, func() { w.idList(rules, stage, lists) }) })
					},
				})
			}
		}
		for _, r := range stage {
			if len(r.listed) == 0 || w.full {
				continue
			}
			exact, below, others := r.identities()
			alternatives := identityConditions(exact, below)
			for _, e := range others {
				if t.tooLarge() {
					w.full = true
					return
				}
				alternatives = append(alternatives, t.entry(e))
			}
			w.branch(branch{when: anyOf(alternatives...), do: action{policy: rules[r.rule].kri, deny: rules[r.rule].deny}})
		}
	})
}
