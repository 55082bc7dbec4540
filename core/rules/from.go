package rules

import (
	"errors"
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// From is the concatenated `from` arrays of the ordered policies of one kind
// that select an inbound: what each client of it gets, by the client's tags
// (SPEC 5).
type From struct {
	conf    resource.ConfType
	items   []Contribution
	clients []partition.Tags // by item: what its targetRef asks of a client
}

// FromRule is a rule of an inbound's rule view.
type FromRule struct {
	Selector partition.Selector
	*Effective
}

// NewFrom concatenates the `from` items of policies, which are all of the
// kind and ordered, later ones overriding. The kind must have a From section.
func NewFrom(kind *resource.Kind, policies []*resource.Policy) *From {
	f := &From{conf: kind.From.Conf}
	for _, p := range policies {
		for i := range p.From {
			clients, possible := clientTags(&p.From[i].TargetRef)
			if !possible {
				continue
			}
			f.items = append(f.items, Contribution{Origin{p, i}, p.From[i].Conf})
			f.clients = append(f.clients, clients)
		}
	}
	return f
}

// clientTags returns what a targetRef asks of a client's tags; possible is
// false where it asks for two values of one key, which no client has.
func clientTags(t *resource.TargetRef) (tags partition.Tags, possible bool) {
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

// Client returns the conf of a client with the given tags, without building
// any rules (SPEC 5.1).
func (f *From) Client(tags map[string]string) *Effective {
	var selected []Contribution
	for i := range f.items {
		if f.clients[i].Predicate().Accepts(tags) {
			selected = append(selected, f.items[i])
		}
	}
	return Merge(f.conf, selected)
}

// Disjoint returns rules of which exactly one selects a client that any item
// selects, and none any other client (SPEC 5.3). The error is a
// [*TooManyRules].
func (f *From) Disjoint(limits partition.Limits) ([]FromRule, error) {
	predicates := make([]partition.Predicate, len(f.clients))
	for i, tags := range f.clients {
		predicates[i] = tags.Predicate()
	}
	contents := newContents(f.conf, f.items)
	p, err := partition.Build(predicates, contents, limits)
	if err != nil {
		return nil, f.tooMany(err)
	}
	rules, err := p.Disjoint()
	return f.rules(rules, contents, err)
}

// Ordered returns rules with positive selectors of which the first that
// selects a client counts (SPEC 5.3). The error is a [*TooManyRules].
func (f *From) Ordered(limits partition.Limits) ([]FromRule, error) {
	contents := newContents(f.conf, f.items)
	rules, err := partition.Ordered(f.clients, contents, limits)
	return f.rules(rules, contents, err)
}

func (f *From) rules(rules partition.Rules[content], contents *contents, err error) ([]FromRule, error) {
	if err != nil {
		return nil, f.tooMany(err)
	}
	out := make([]FromRule, len(rules))
	for i, r := range rules {
		out[i] = FromRule{r.Selector, contents.effective(r.Content)}
	}
	return out, nil
}

// TooManyRules indicates that the items tell so many kinds of clients apart
// that a rule view would pass its limit (SPEC 5.5).
type TooManyRules struct {
	Limit    *partition.LimitError
	Policies []*resource.Policy // that tell clients apart, highest priority first
	Keys     []string           // of the tags that they ask for
}

const namesShown = 10

// Error names the limit, the policies and the keys.
func (e *TooManyRules) Error() string {
	var names []string
	for _, p := range e.Policies {
		names = append(names, p.Name)
	}
	return fmt.Sprintf("the rule view needs more than %d %s; the policies %s tell clients apart by the tags %s",
		e.Limit.Limit, e.Limit.Resource, shorten(names), shorten(e.Keys))
}

func (e *TooManyRules) Unwrap() error { return e.Limit }

func shorten(names []string) string {
	if len(names) > namesShown {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namesShown], ", "), len(names)-namesShown)
	}
	return strings.Join(names, ", ")
}

func (f *From) tooMany(err error) error {
	var limit *partition.LimitError
	if !errors.As(err, &limit) {
		return err
	}
	e := &TooManyRules{Limit: limit, Keys: limit.Keys}
	seen := map[*resource.Policy]bool{}
	for _, item := range limit.Items {
		if p := f.items[item].Policy; !seen[p] {
			seen[p] = true
			e.Policies = append(e.Policies, p)
		}
	}
	return e
}
