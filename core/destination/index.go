package destination

import (
	"iter"
	"slices"
	"sync"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Index contains the `to` items of the policies of a mesh, by the destinations that they
// find. Dataplanes share its work: references are resolved once for all dataplanes, and
// items that apply together are merged once. The index of a kind is made when the first
// confs of the kind are needed. It is safe for concurrent use.
type Index struct {
	set      *Set
	policies iter.Seq[*resource.Policy]
	kinds    sync.Map // *kindItems, by the name of the kind
	routes   sync.Map // the results of the `to` items of a route: []Found by *resource.Policy
}

// Index returns the index of all policies of a mesh. Policies of one kind must be in
// order; later policies override.
func (s *Set) Index(policies iter.Seq[*resource.Policy]) *Index {
	return &Index{set: s, policies: policies}
}

// kindItems contains the `to` items of one kind, in order; later items
// override. The number of an item is its position.
type kindItems struct {
	index *Index
	kind  *resource.Kind
	items []rules.Contribution

	everywhere []int // items that select every outbound
	ofRoutes   []int // items that refer to routes
	attached   bool  // a policy is attached to a route

	// byDestination contains the items that select destinations. The items for destination
	// i of the set are at starts[i] to starts[i+1], in order.
	byDestination []sectionItem
	starts        []uint32

	// numbers contains the numbers of the items. The items of a policy are adjacent, from
	// the index in ofPolicy on.
	numbers  []int
	ofPolicy map[*resource.Policy]int
	ofPage   sync.Map // the numbers of the items of a page: []int by *rules.Page

	mu     sync.Mutex
	groups map[string]*group // by the numbers of their items for every outbound
}

// sectionItem is an item that selects a destination, or a section of it.
type sectionItem struct {
	section string // empty: all
	item    int
}

// itemsOf returns the items of a kind.
func (x *Index) itemsOf(kind *resource.Kind) *kindItems {
	if known, ok := x.kinds.Load(kind.Name); ok {
		return known.(*kindItems)
	}
	made, _ := x.kinds.LoadOrStore(kind.Name, x.newKindItems(kind))
	return made.(*kindItems)
}

func (x *Index) newKindItems(kind *resource.Kind) *kindItems {
	k := &kindItems{
		index: x, kind: kind, ofPolicy: map[*resource.Policy]int{}, groups: map[string]*group{},
	}
	var origins []rules.Origin
	for p := range x.policies {
		if p.Kind != kind.Name {
			continue
		}
		k.ofPolicy[p] = len(origins)
		for i := range p.To {
			origins = append(origins, rules.Origin{Policy: p, Index: i})
		}
	}
	k.numbers = make([]int, len(origins))
	for i := range k.numbers {
		k.numbers[i] = noItem
	}
	origins = x.set.semantics.DestinationItems(origins)
	k.items = make([]rules.Contribution, len(origins))
	var found []Found
	var numbers []int // parallel to found
	for number, o := range origins {
		k.numbers[k.ofPolicy[o.Policy]+o.Index] = number
		found = k.add(found, number, o)
		for len(numbers) < len(found) {
			numbers = append(numbers, number)
		}
	}
	k.file(found, numbers)
	return k
}

// noItem replaces the number of an item that applies to no destination.
const noItem = -1

// add adds an item and appends the destinations that it finds. Items must be
// added in the order of their numbers.
func (k *kindItems) add(found []Found, number int, o rules.Origin) []Found {
	item := &o.Policy.To[o.Index]
	k.items[number] = rules.Contribution{Origin: o, Conf: item.Conf}
	k.attached = k.attached || o.Policy.TargetRef.Kind.IsRoute()
	switch t := &item.TargetRef; {
	case t.Kind == resource.TargetMesh:
		k.everywhere = append(k.everywhere, number)
	case t.Kind.IsRoute():
		k.ofRoutes = append(k.ofRoutes, number)
	default:
		found = k.index.set.appendFound(found, o.Policy, t)
	}
	return found
}

// file sorts the results of the items with the given numbers by destination.
func (k *kindItems) file(found []Found, numbers []int) {
	k.starts = make([]uint32, len(k.index.set.all)+1)
	for i := range found {
		k.starts[found[i].at+1]++
	}
	for i := range k.index.set.all {
		k.starts[i+1] += k.starts[i]
	}
	k.byDestination = make([]sectionItem, len(found))
	next := slices.Clone(k.starts)
	for i := range found {
		at := found[i].at
		k.byDestination[next[at]] = sectionItem{found[i].Section, numbers[i]}
		next[at]++
	}
}

// selecting returns the items that select a destination or a section of it, in order.
func (k *kindItems) selecting(destination int) []sectionItem {
	return k.byDestination[k.starts[destination]:k.starts[destination+1]]
}

// foundByRoute returns the destinations that the `to` items of a route find.
func (x *Index) foundByRoute(p *resource.Policy) []Found {
	if known, ok := x.routes.Load(p); ok {
		return known.([]Found)
	}
	var found []Found
	for i := range p.To {
		found = x.set.appendFound(found, p, &p.To[i].TargetRef)
	}
	x.routes.Store(p, found)
	return found
}

// numbersOf returns the numbers of the items of the policies of a page. Lists of policies
// share most of their pages.
func (k *kindItems) numbersOf(page *rules.Page) []int {
	if known, ok := k.ofPage.Load(page); ok {
		return known.([]int)
	}
	var numbers []int
	selected := page.Selected()
	for i := range selected {
		p := selected[i].Policy
		from := k.ofPolicy[p]
		for _, number := range k.numbers[from : from+len(p.To)] {
			if number != noItem {
				numbers = append(numbers, number)
			}
		}
	}
	k.ofPage.Store(page, numbers)
	return numbers
}

// numberSet is a set of the numbers of items.
type numberSet []uint64

func (s numberSet) has(number int) bool { return s[number/64]&(1<<(number%64)) != 0 }

// selectedBy returns the items of the policies of a list.
func (k *kindItems) selectedBy(matched rules.Matched) numberSet {
	set := make(numberSet, (len(k.items)+63)/64)
	for _, page := range matched.Pages() {
		for _, number := range k.numbersOf(page) {
			set[number/64] |= 1 << (number % 64)
		}
	}
	return set
}

// among returns the numbers of the list that are in the set.
func (s numberSet) among(numbers []int) []int {
	var in []int
	for _, number := range numbers {
		if s.has(number) {
			in = append(in, number)
		}
	}
	return in
}
