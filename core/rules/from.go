package rules

import (
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// From is the concatenation of the `from` arrays of the ordered policies of one
// kind that select an inbound. It gives the conf of each client by the client's
// tags (SPEC 5).
type From struct{ view ruleView }

// NewFrom concatenates the `from` items of policies, which are all of the kind
// and in order; later ones override. The kind must have `from`.
func NewFrom(kind *resource.Kind, policies []*resource.Policy) *From {
	f := &From{ruleView{conf: kind.From.Conf}}
	for _, p := range policies {
		for i := range p.From {
			f.view.add(Contribution{Origin{p, i}, p.From[i].Conf}, &p.From[i].TargetRef)
		}
	}
	return f
}

// Client returns the conf of a client with the given tags, without building any
// rules (SPEC 5.1); nil if no item selects the client.
func (f *From) Client(tags map[string]string) *Effective {
	var selected []Contribution
	for i := range f.view.items {
		if f.view.selectors[i].Predicate().Accepts(tags) {
			selected = append(selected, f.view.items[i])
		}
	}
	return Merge(f.view.conf, selected)
}

// Disjoint returns rules of which exactly one selects each client that an item
// selects, and none any other client (SPEC 5.3). The error is a [*LimitError].
func (f *From) Disjoint(limits partition.Limits) ([]SelectorRule, error) {
	return f.view.disjoint(limits)
}

// Ordered returns rules with positive selectors; the first that selects a client
// applies (SPEC 5.3). The error is a [*LimitError].
func (f *From) Ordered(limits partition.Limits) ([]SelectorRule, error) {
	return f.view.ordered(limits)
}

// Origins returns every item, in order, including those that set nothing.
func (f *From) Origins() []Origin {
	origins := make([]Origin, len(f.view.items))
	for i := range f.view.items {
		origins[i] = f.view.items[i].Origin
	}
	return origins
}
