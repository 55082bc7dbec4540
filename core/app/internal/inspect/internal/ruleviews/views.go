package ruleviews

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/results"
)

// maxRules is the maximum number of rules in an answer (SPEC 5.5).
const maxRules = 50_000

// Views builds the rule views of `from` for one answer. Inbounds share
// their `from`, so each distinct view is built once.
//
// A view that exceeds its limit costs up to partition.DefaultWork steps, about 0.5 s;
// the ordered form stops early. An input may have hundreds of such views. To avoid
// taking minutes, each one halves the steps that later views may take, down to an
// eighth.
type Views struct {
	Limits  partition.Limits // both set
	least   int              // the steps that each view may take
	ordered bool
	known   map[*results.From]ruleView
}

// ruleView contains either rules or the error that names the limit.
type ruleView struct {
	rules []results.SelectorRule
	err   error
}

func New(limits partition.Limits, ordered bool) *Views {
	if limits.Rules <= 0 {
		limits.Rules = partition.DefaultRules
	}
	if limits.Work <= 0 {
		limits.Work = partition.DefaultWork
	}
	return &Views{Limits: limits, least: limits.Work / 8, ordered: ordered, known: map[*results.From]ruleView{}}
}

// RulesOf returns the rule view of from; nil has no rules.
func (v *Views) RulesOf(from *results.From) ([]results.SelectorRule, error) {
	return v.Within(v.Limits, from)
}

// Within returns the rule view of from. The limits of the first call for this from
// apply.
func (v *Views) Within(limits partition.Limits, from *results.From) ([]results.SelectorRule, error) {
	if from == nil {
		return nil, nil
	}
	view, known := v.known[from]
	if !known {
		if v.ordered {
			view.rules, view.err = from.Ordered(limits)
		} else {
			view.rules, view.err = from.Disjoint(limits)
		}
		v.Failed(view.err)
		v.known[from] = view
	}
	return view.rules, view.err
}

// Failed reduces the steps of further views if err is an error.
func (v *Views) Failed(err error) {
	if err != nil {
		v.Limits.Work = max(v.Limits.Work/2, v.least)
	}
}

// Budget counts down the rules that an answer may still contain. A list of rules is
// in the answer as a whole or not at all. After a list that does not fit, a shorter one
// may still fit.
type Budget struct {
	limit, Left int
	leftOut     []string // the places of lists that do not fit
}

func NewBudget(limit int) *Budget {
	if limit <= 0 {
		limit = maxRules
	}
	return &Budget{limit: limit, Left: limit}
}

// Take reports whether the answer may contain n more rules, which belong to a place.
func (b *Budget) Take(n int, place string) bool {
	if n > b.Left {
		b.leftOut = append(b.leftOut, place)
		return false
	}
	b.Left -= n
	return true
}

const placesShown = 10

// Err names the omitted lists; nil if nothing is.
func (b *Budget) Err() error {
	if len(b.leftOut) == 0 {
		return nil
	}
	places := b.leftOut[:min(len(b.leftOut), placesShown)]
	more := ""
	if n := len(b.leftOut) - len(places); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Errorf("%s%s: left out, because the answer would have more than %d rules; ask for one kind, or for the conf of one client",
		strings.Join(places, ", "), more, b.limit)
}
