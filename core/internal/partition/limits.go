package partition

import (
	"fmt"
	"strings"
)

// The limits on rules and work for zero fields of [Limits].
const (
	DefaultRules = 10_000
	DefaultWork  = 1 << 23
)

// Limits bounds the output and the cost of one call, so that no input makes it run
// forever (SPEC 5.5). Zero fields mean DefaultRules and DefaultWork.
type Limits struct {
	// Rules is the maximum number of rules, regions, tree leaves or terms of a
	// canonical form in a result.
	Rules int
	// Regions is the maximum number of contents that [Regions] returns, Rules if it is 0.
	Regions int
	// Work is the maximum number of elementary steps of a call. A step handles one
	// edge of a diagram, or one item under one selector; a new node of a diagram
	// takes eight steps. This also limits memory.
	Work int
}

func (l Limits) withDefaults() Limits {
	if l.Rules <= 0 {
		l.Rules = DefaultRules
	}
	if l.Regions <= 0 {
		l.Regions = l.Rules
	}
	if l.Work <= 0 {
		l.Work = DefaultWork
	}
	return l
}

// Resource names the limit that a [LimitError] reports.
type Resource string

// The bounded resources, one for each field of [Limits].
const (
	RulesResource   Resource = "rules"
	RegionsResource Resource = "regions"
	WorkResource    Resource = "steps"
)

// A LimitError indicates that a result would be larger, or cost more, than
// [Limits] allows. No partial result is returned with it.
type LimitError struct {
	Resource Resource
	Limit    int
	// Items are the indexes of the items (conditions, predicates) that
	// distinguish clients, the highest priority first.
	Items []int
	// Keys are the keys that these items name, in the order of their first use in
	// Items.
	Keys []string
}

// Error contains the limit and the first keys; all keys are in Keys.
func (e *LimitError) Error() string {
	const shown = 5
	var names []string
	for _, key := range e.Keys[:min(shown, len(e.Keys))] {
		names = append(names, quote(key))
	}
	if len(e.Keys) > shown {
		names = append(names, "...")
	}
	return fmt.Sprintf("partition: %d items over %d keys (%s) need more than %d %s",
		len(e.Items), len(e.Keys), strings.Join(names, ", "), e.Limit, e.Resource)
}

// A budget counts down a call's limits. Once exceeded, it remains exceeded.
// Recursions test it first and return an arbitrary value; the entry point then
// returns the error.
type budget struct {
	limits   Limits
	work     int
	exceeded Resource
}

func newBudget(limits Limits) budget { return budget{limits: limits.withDefaults()} }

// spend takes steps from the budget and reports whether it is not exceeded.
func (b *budget) spend(steps int) bool {
	b.work += steps
	if b.work > b.limits.Work && b.exceeded == "" {
		b.exceeded = WorkResource
	}
	return b.exceeded == ""
}

// allow reports whether a result may have the given number of rules.
func (b *budget) allow(rules int) bool {
	if rules > b.limits.Rules && b.exceeded == "" {
		b.exceeded = RulesResource
	}
	return b.exceeded == ""
}

// allowRegions reports whether a result may have the given number of regions.
func (b *budget) allowRegions(regions int) bool {
	if regions > b.limits.Regions && b.exceeded == "" {
		b.exceeded = RegionsResource
	}
	return b.exceeded == ""
}

// err returns nil while the budget lasts.
func (b *budget) err(items []int, keys []string) error {
	if b.exceeded == "" {
		return nil
	}
	limit := map[Resource]int{RulesResource: b.limits.Rules, RegionsResource: b.limits.Regions, WorkResource: b.limits.Work}[b.exceeded]
	return &LimitError{Resource: b.exceeded, Limit: limit, Items: items, Keys: keys}
}
