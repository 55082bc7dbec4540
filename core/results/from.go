package results

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// From is the concatenation of the `from` arrays of the ordered policies of one
// kind that select an inbound. It returns the conf of a client by the client's
// tags (SPEC 5).
type From struct{ ruleView }

// NewFrom concatenates the `from` items of policies. All policies must be of the
// kind, which must have `from`, and in order; later policies override.
func NewFrom(kind *resource.Kind, policies []*resource.Policy) *From {
	f := &From{ruleView{conf: kind.From.Conf}}
	for _, p := range policies {
		for i := range p.From {
			f.add(Contribution{Origin{p, i}, p.From[i].Conf}, &p.From[i].TargetRef)
		}
	}
	return f
}

// Client returns the conf of a client with the given tags, without building any
// rules (SPEC 5.1); nil if no item selects the client.
func (f *From) Client(tags map[string]string) *Effective {
	var selected []Contribution
	for i := range f.items {
		if f.selectors[i].Predicate().Accepts(tags) {
			selected = append(selected, f.items[i])
		}
	}
	return Merge(f.conf, selected)
}

// Covering returns the items that select every client that a selector selects, in their
// order. They include those that set nothing there, because later ones set all of their
// fields.
func (f *From) Covering(s partition.Selector) []Contribution {
	var list []Contribution
	for i, tags := range f.selectors {
		if covers(tags, s) {
			list = append(list, f.items[i])
		}
	}
	return list
}

// covers reports whether each client that a selector selects has the tags.
func covers(tags partition.Tags, s partition.Selector) bool {
	for key, value := range tags {
		at := slices.IndexFunc(s, func(r partition.Requirement) bool { return r.Key == key })
		if at < 0 {
			return false
		}
		r := &s[at]
		is := r.Kind == partition.Is && (value == partition.Any || value == r.Value)
		exists := r.Kind == partition.Exists && value == partition.Any
		if !is && !exists {
			return false
		}
	}
	return true
}

// Origins returns every item, in order, including those that set nothing.
func (f *From) Origins() []Origin {
	origins := make([]Origin, len(f.items))
	for i := range f.items {
		origins[i] = f.items[i].Origin
	}
	return origins
}
