package inspect

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/rules"
)

// maxRules is the number of rules that an answer contains at most (SPEC 5.5).
const maxRules = 50_000

// ruleViews builds the rule views of `from` for one answer. Inbounds share
// their `from`, so each distinct one is built once.
//
// A view that passes its limit costs up to partition.DefaultWork steps, about
// 0.2 s. So that an input with hundreds of them does not take minutes, each one
// halves the steps that the views after it may take, down to 1/256.
type ruleViews struct {
	limits  partition.Limits
	ordered bool
	known   map[*rules.From]ruleView
}

// ruleView is either rules or the error that names the limit.
type ruleView struct {
	rules []rules.SelectorRule
	err   error
}

func newRuleViews(limits partition.Limits, ordered bool) *ruleViews {
	if limits.Work <= 0 {
		limits.Work = partition.DefaultWork
	}
	return &ruleViews{limits: limits, ordered: ordered, known: map[*rules.From]ruleView{}}
}

// of returns the rule view of from; nil has no rules.
func (v *ruleViews) of(from *rules.From) ([]rules.SelectorRule, error) {
	if from == nil {
		return nil, nil
	}
	view, known := v.known[from]
	if !known {
		if v.ordered {
			view.rules, view.err = from.Ordered(v.limits)
		} else {
			view.rules, view.err = from.Disjoint(v.limits)
		}
		v.failed(view.err)
		v.known[from] = view
	}
	return view.rules, view.err
}

// failed reduces the steps of further views if err is an error.
func (v *ruleViews) failed(err error) {
	if least := partition.DefaultWork / 256; err != nil && v.limits.Work > least {
		v.limits.Work = max(v.limits.Work/2, least)
	}
}

// ruleBudget counts down the rules that an answer may still contain.
type ruleBudget struct {
	limit, left int
	err         error // after the first rule that was left out
}

func newRuleBudget(limit int) *ruleBudget {
	if limit <= 0 {
		limit = maxRules
	}
	return &ruleBudget{limit: limit, left: limit}
}

// take returns how many of n further rules, which are at a place, the answer
// may contain.
func (b *ruleBudget) take(n int, place string) int {
	if n > b.left && b.err == nil {
		b.err = fmt.Errorf("%s: the answer has more than %d rules; the rest, from here on, is left out; ask for one kind, or for the conf of one client", place, b.limit)
	}
	n = min(n, b.left)
	b.left -= n
	return n
}
