package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/projectcalico/calico/felix/labelindex/labelrestrictionindex"
	"github.com/projectcalico/calico/libcalico-go/lib/selector"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

const (
	meshmatch  = "meshmatch"
	calico     = "Calico label index"
	kubernetes = "Kubernetes label selectors"
)

// matching compares indexes of label selectors: what an item with labels matches, and one
// changed selector.
func matching() []comparison {
	const subject = "Matching: which of 10,000 selectors match"
	var list []comparison
	for _, input := range []struct {
		name  string
		about string
		make  func(selectors, items int) shape.Selection
	}{
		{"mesh", "policies of a mesh: about 1,090 match", fleetSelection},
		{"IP sets", "Calico's benchmark of IP sets: one shared label, 1 matches", shape.CalicoIPSets},
		{"tags", "Calico's benchmark of tags: 29 labels, 345 match", shape.CalicoTags},
	} {
		list = append(list, comparison{
			subject: subject, label: "match, " + input.name, work: "match one item", input: input.about, source: input.make(0, 0).Source, unit: "s",
			note: "the labels are looked up in the measured time; Kubernetes has no index and compares all selectors",
			prepare: func(_ context.Context, s size) (*contest, error) {
				return matchOne(input.make(s.pick(10_000, 300), s.pick(1_000, 20)))
			},
		}, comparison{
			subject: subject, label: "replace, " + input.name, work: "replace one selector", input: input.about, source: input.make(0, 0).Source, unit: "s",
			note: "meshmatch publishes a new version for readers that never wait. Copying its pages takes about half of the time or more (BenchmarkReplaceSelectorFloor in package index). Calico changes its index in place",
			prepare: func(_ context.Context, s size) (*contest, error) {
				return replace(input.make(s.pick(10_000, 300), 20), 1)
			},
		}, comparison{
			subject: subject, label: "replace many, " + input.name, work: "replace 100 selectors", input: input.about, source: input.make(0, 0).Source, unit: "s",
			note: "meshmatch publishes one version with all of them, as it does for a batch of edits. Copying its pages takes a third of the time or more (BenchmarkReplaceSelectorsFloor in package index). Calico changes its index in place, one after another",
			prepare: func(_ context.Context, s size) (*contest, error) {
				return replace(input.make(s.pick(10_000, 300), 20), s.pick(100, 10))
			},
		})
	}
	return list
}

// fleetSelection has the targetRefs of the fleet's policies as selectors, and the tags and
// labels of its dataplanes as items.
func fleetSelection(n, items int) shape.Selection {
	s := shape.Selection{Name: "fleet"}
	for _, p := range shape.Fleet(meshtimeout.Kind(), n) {
		required := map[string]string{}
		for _, tag := range slices.Concat(p.TargetRef.Tags, p.TargetRef.Labels) {
			required[tag.Key] = tag.Value
		}
		if p.TargetRef.Name != "" {
			required[resource.ServiceTag] = p.TargetRef.Name
		}
		s.Selectors = append(s.Selectors, required)
	}
	for j := range items {
		d := shape.Dataplane(j, 0)
		item := map[string]string{}
		for _, tag := range slices.Concat(d.Inbounds[0].Tags, d.Labels) {
			item[tag.Key] = tag.Value
		}
		s.Items = append(s.Items, item)
	}
	return s
}

// A label with its value is a term of meshmatch's index.
type label struct{ key, value string }

// termIndex is the index of meshmatch with the numbers of its terms.
type termIndex struct {
	terms *index.Interner[label]
	index *index.TermIndex
	found []uint32
	asked []index.Term
}

func newTermIndex(selectors []map[string]string) *termIndex {
	names := index.NewInterner[label]().Edit()
	edit := new(index.TermIndex).Edit()
	for id, required := range selectors {
		edit.Put(uint32(id), internTerms(names, required))
	}
	return &termIndex{terms: names.Commit(), index: edit.Commit()}
}

func internTerms(names *index.InternerEditor[label], required map[string]string) []index.Term {
	var terms []index.Term
	for key, value := range required {
		terms = append(terms, index.Term(names.Intern(label{key, value})))
	}
	return index.SortTerms(terms)
}

func (x *termIndex) match(item map[string]string) []uint32 {
	x.asked = x.asked[:0]
	for key, value := range item {
		if id, ok := x.terms.Lookup(label{key, value}); ok {
			x.asked = append(x.asked, index.Term(id))
		}
	}
	x.found, _ = x.index.Match(index.SortTerms(x.asked), x.found[:0])
	return x.found
}

// calicoIndex is Calico's index of selectors: it returns the candidates of an item, and each
// is then evaluated, as in its SelectorAndNamedPortIndex.
type calicoIndex struct {
	index *labelrestrictionindex.LabelRestrictionIndex[uint32]
	found []uint32
}

func newCalicoIndex(selectors []selector.Selector) *calicoIndex {
	x := &calicoIndex{index: labelrestrictionindex.New[uint32]()}
	for id, s := range selectors {
		x.index.AddSelector(uint32(id), s)
	}
	return x
}

type calicoItem map[string]string

// IterOwnAndParentLabels implements labelrestrictionindex.Labeled.
func (i calicoItem) IterOwnAndParentLabels(visit func(key, value string)) {
	for key, value := range i {
		visit(key, value)
	}
}

func (x *calicoIndex) match(item map[string]string) []uint32 {
	x.found = x.found[:0]
	x.index.IterPotentialMatches(calicoItem(item), func(id uint32, s selector.Selector) {
		if s.Evaluate(item) {
			x.found = append(x.found, id)
		}
	})
	return x.found
}

// calicoSelectors parses the selectors in Calico's syntax.
func calicoSelectors(selectors []map[string]string) ([]selector.Selector, error) {
	var list []selector.Selector
	for _, required := range selectors {
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(required)) {
			parts = append(parts, fmt.Sprintf("%s == %q", key, required[key]))
		}
		s, err := selector.Parse(strings.Join(parts, " && "))
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// matchOne matches the items in turn.
func matchOne(input shape.Selection) (*contest, error) {
	parsed, err := calicoSelectors(input.Selectors)
	if err != nil {
		return nil, err
	}
	var sets []labels.Selector
	for _, required := range input.Selectors {
		sets = append(sets, labels.SelectorFromSet(required))
	}
	var found []uint32
	scan := func(item map[string]string) []uint32 {
		found = found[:0]
		for id, s := range sets {
			if s.Matches(labels.Set(item)) {
				found = append(found, uint32(id))
			}
		}
		return found
	}
	return &contest{contenders: []contender{
		matcher(meshmatch, input.Items, newTermIndex(input.Selectors).match),
		matcher(calico, input.Items, newCalicoIndex(parsed).match),
		matcher(kubernetes, input.Items, scan),
	}}, nil
}

func matcher(name string, items []map[string]string, match func(item map[string]string) []uint32) contender {
	next := 0
	return contender{
		name:   name,
		answer: func() (string, error) { return matches(items, match), nil },
		operate: func(n int) error {
			for range n {
				match(items[next%len(items)])
				next++
			}
			return nil
		},
	}
}

// matches returns the sorted matches of all items as text.
func matches(items []map[string]string, match func(item map[string]string) []uint32) string {
	var text strings.Builder
	for _, item := range items {
		fmt.Fprintln(&text, slices.Sorted(slices.Values(match(item))))
	}
	return text.String()
}

// replace gives each selector in turn the requirement of another one, and back. One operation
// replaces a number of selectors, which must divide half of all.
func replace(input shape.Selection, batch int) (*contest, error) {
	parsed, err := calicoSelectors(input.Selectors)
	if err != nil {
		return nil, err
	}
	n := len(input.Selectors)
	// The selectors change places with the ones half the list away; after two passes each
	// is back.
	other := func(i int) (id uint32, from int) {
		id = uint32(i % n)
		if i/n%2 == 0 {
			return id, (int(id) + n/2) % n
		}
		return id, int(id)
	}
	ours, theirs := newTermIndex(input.Selectors), newCalicoIndex(parsed)
	terms := make([][]index.Term, n)
	names := ours.terms.Edit()
	for i, required := range input.Selectors {
		terms[i] = internTerms(names, required)
	}
	replacer := func(name string, put func(id uint32, from int), publish func(), match func(item map[string]string) []uint32) contender {
		next := 0
		work := func() error {
			for range batch {
				put(other(next))
				next++
			}
			publish()
			return nil
		}
		return contender{
			name: name,
			answer: func() (string, error) { // when half of the selectors are replaced
				err := repeat(work)(n / 2 / batch)
				return matches(input.Items, match), err
			},
			operate: repeat(work),
		}
	}
	edit := ours.index.Edit()
	return &contest{contenders: []contender{
		replacer(meshmatch, func(id uint32, from int) { edit.Put(id, terms[from]) }, func() {
			ours.index = edit.Commit()
			edit = ours.index.Edit()
		}, ours.match),
		replacer(calico, func(id uint32, from int) { theirs.index.AddSelector(id, parsed[from]) }, func() {}, theirs.match),
	}}, nil
}
