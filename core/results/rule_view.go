package results

import (
	"errors"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// SelectorRule is a rule of a rule view: a selector by tags, and the complete
// conf of every client or outbound that it selects.
type SelectorRule struct {
	Selector partition.Selector
	*Effective
}

// ruleView turns items, whose selectors may overlap, into rules. Exactly one rule
// applies to the tags of a client or an outbound.
type ruleView struct {
	conf      resource.ConfType
	items     []Contribution
	selectors []partition.Tags // by item
}

// add appends an item, unless its targetRef is contradictory.
func (v *ruleView) add(item Contribution, target *resource.TargetRef) {
	if tags, possible := selectorTags(target); possible {
		v.items = append(v.items, item)
		v.selectors = append(v.selectors, tags)
	}
}

// selectorTags returns the tags that a targetRef requires. It returns false if
// the targetRef requires two values of one key.
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

// Disjoint returns rules that do not overlap: exactly one rule selects a client that
// some item selects, and none selects any other client (SPEC 5.3). The error is a
// [*LimitError].
func (v *ruleView) Disjoint(limits partition.Limits) ([]SelectorRule, error) {
	predicates := make([]partition.Predicate, len(v.selectors))
	for i, tags := range v.selectors {
		predicates[i] = tags.Predicate()
	}
	contents := newContents(v.conf, v.items)
	p, err := partition.Build(predicates, contents, limits)
	if err != nil {
		return nil, v.limitError(err)
	}
	rules, err := p.Disjoint()
	return v.rules(rules, contents, err)
}

// Ordered returns rules whose selectors only require tags and exclude none. The
// first rule that selects a client applies (SPEC 5.3). The error is a [*LimitError].
func (v *ruleView) Ordered(limits partition.Limits) ([]SelectorRule, error) {
	contents := newContents(v.conf, v.items)
	rules, err := partition.Ordered(v.selectors, contents, limits)
	return v.rules(rules, contents, err)
}

func (v *ruleView) rules(rules partition.Rules[content], contents *contents, err error) ([]SelectorRule, error) {
	if err != nil {
		return nil, v.limitError(err)
	}
	out := make([]SelectorRule, len(rules))
	for i, r := range rules {
		out[i] = SelectorRule{r.Selector, contents.effective(r.Content)}
	}
	return out, nil
}

// LimitError indicates that the items divide the clients, or the outbounds, into
// so many groups that a rule view would exceed its limit (SPEC 5.5).
type LimitError struct {
	Limit    *partition.LimitError
	Policies []*resource.Policy // the policies of the items, highest priority first
	Keys     []string           // the keys of the tags that the items require
}

const namesShown = 10

// Error returns a message with the limit, the policies and the keys.
func (e *LimitError) Error() string {
	var names []string
	for _, p := range e.Policies {
		names = append(names, p.Name)
	}
	return fmt.Sprintf("the rule view needs more than %d %s; the policies %s differ by the tags %s",
		e.Limit.Limit, e.Limit.Resource, shorten(names), shorten(e.Keys))
}

// Unwrap returns the limit that was exceeded.
func (e *LimitError) Unwrap() error { return e.Limit }

func shorten(names []string) string {
	if len(names) > namesShown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namesShown], ", "), len(names)-namesShown)
	}
	return strings.Join(names, ", ")
}

func (v *ruleView) limitError(err error) error {
	var limit *partition.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	e := &LimitError{Limit: limit, Keys: limit.Keys}
	seen := map[*resource.Policy]bool{}
	for _, item := range limit.Items {
		if p := v.items[item].Policy; !seen[p] {
			seen[p] = true
			e.Policies = append(e.Policies, p)
		}
	}
	return e
}
