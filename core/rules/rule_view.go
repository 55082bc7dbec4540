package rules

import (
	"errors"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// SelectorRule is a rule of a rule view: what it selects by tags, with a conf
// that is sufficient by itself.
type SelectorRule struct {
	Selector partition.Selector
	*Effective
}

// ruleView turns items with selectors, which may overlap, into rules, one of
// which counts for whatever has the tags: a client or an outbound.
type ruleView struct {
	conf      resource.ConfType
	items     []Contribution
	selectors []partition.Tags // by item
}

// add appends an item, unless nothing can have the tags that it asks for.
func (v *ruleView) add(item Contribution, target *resource.TargetRef) {
	if tags, possible := selectorTags(target); possible {
		v.items = append(v.items, item)
		v.selectors = append(v.selectors, tags)
	}
}

// selectorTags returns the tags that a targetRef asks for; possible is false
// where it asks for two values of one key, which nothing has.
func selectorTags(t *resource.TargetRef) (tags partition.Tags, possible bool) {
	tags = partition.Tags{}
	for _, tag := range t.Selector() {
		switch known, twice := tags[tag.Key]; {
		case !twice || known == partition.Any:
			tags[tag.Key] = tag.Value
		case tag.Value != partition.Any && tag.Value != known:
			return nil, false
		}
	}
	return tags, true
}

func (v *ruleView) disjoint(limits partition.Limits) ([]SelectorRule, error) {
	predicates := make([]partition.Predicate, len(v.selectors))
	for i, tags := range v.selectors {
		predicates[i] = tags.Predicate()
	}
	contents := newContents(v.conf, v.items)
	p, err := partition.Build(predicates, contents, limits)
	if err != nil {
		return nil, v.tooMany(err)
	}
	rules, err := p.Disjoint()
	return v.rules(rules, contents, err)
}

func (v *ruleView) ordered(limits partition.Limits) ([]SelectorRule, error) {
	contents := newContents(v.conf, v.items)
	rules, err := partition.Ordered(v.selectors, contents, limits)
	return v.rules(rules, contents, err)
}

func (v *ruleView) rules(rules partition.Rules[content], contents *contents, err error) ([]SelectorRule, error) {
	if err != nil {
		return nil, v.tooMany(err)
	}
	out := make([]SelectorRule, len(rules))
	for i, r := range rules {
		out[i] = SelectorRule{r.Selector, contents.effective(r.Content)}
	}
	return out, nil
}

// TooManyRules indicates that the items tell so many kinds of clients, or of
// outbounds, apart that a rule view would pass its limit (SPEC 5.5).
type TooManyRules struct {
	Limit    *partition.LimitError
	Policies []*resource.Policy // that tell them apart, highest priority first
	Keys     []string           // of the tags that they ask for
}

const namesShown = 10

// Error names the limit, the policies and the keys.
func (e *TooManyRules) Error() string {
	var names []string
	for _, p := range e.Policies {
		names = append(names, p.Name)
	}
	return fmt.Sprintf("the rule view needs more than %d %s; the policies %s differ by the tags %s",
		e.Limit.Limit, e.Limit.Resource, shorten(names), shorten(e.Keys))
}

func (e *TooManyRules) Unwrap() error { return e.Limit }

func shorten(names []string) string {
	if len(names) > namesShown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namesShown], ", "), len(names)-namesShown)
	}
	return strings.Join(names, ", ")
}

func (v *ruleView) tooMany(err error) error {
	var limit *partition.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	e := &TooManyRules{Limit: limit, Keys: limit.Keys}
	seen := map[*resource.Policy]bool{}
	for _, item := range limit.Items {
		if p := v.items[item].Policy; !seen[p] {
			seen[p] = true
			e.Policies = append(e.Policies, p)
		}
	}
	return e
}
