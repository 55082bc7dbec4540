package variant

import (
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/internal/match"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Inbounds is an inverted index from the parameters that describe the inbounds of a mesh
// (SPEC 12.4) to sets of dataplanes. A constraint is evaluated by set algebra, so its cost
// depends on the sets that it names, and not on the number of dataplanes.
//
// A set has the numbers of dataplanes. There is one set for each parameter and position of
// an inbound: the first inbounds of all dataplanes, the second ones, and so on. So the
// dataplanes whose inbounds all meet a constraint are found without a look at any of
// them. A dataplane without inbounds counts as one inbound, with the tags of its gateway.
//
// It belongs to one goroutine.
type Inbounds struct {
	mesh       string
	view       *core.View
	dataplanes []*resource.Dataplane // of the view, by identity
	byNumber   []*resource.Dataplane // nil: free
	free       []uint32
	numbers    map[*resource.Dataplane]uint32
	proxies    match.Postings[parameter]   // by names and labels
	positions  []match.Postings[parameter] // by tags and names of the inbounds of each position
	gateways   index.SetEditor
	outbounds  map[string]*outboundList   // by the names of their destinations
	lists      map[string][]*outboundList // by the name of a destination
}

// A parameter is one that a dataplane has. Without a value, it is any value of the key.
type parameter struct {
	key, value string
	any        bool
}

// everyInbound is the parameter of each inbound of a position.
var everyInbound = parameter{any: true}

// An outboundList is what the outbounds of some dataplanes have in common: their
// destinations.
type outboundList struct {
	destinations []string
	dataplanes   index.SetEditor
}

// NewInbounds returns the inbounds of a mesh of a view.
func NewInbounds(view *core.View, mesh string) *Inbounds {
	x := &Inbounds{
		mesh: mesh, numbers: map[*resource.Dataplane]uint32{}, proxies: match.NewPostings[parameter](),
		outbounds: map[string]*outboundList{}, lists: map[string][]*outboundList{},
	}
	x.Update(view)
	return x
}

// Update follows a later view of the same engine. It costs the dataplanes that differ, and
// one comparison of pointers for each other one.
func (x *Inbounds) Update(view *core.View) {
	next := view.Dataplanes(x.mesh)
	byID := func(a, b *resource.Dataplane) int { return a.ID.Compare(b.ID) }
	for before, after := range sorted.Join(x.dataplanes, next, byID) {
		if before == after {
			continue
		}
		if before != nil {
			x.remove(before)
		}
		if after != nil {
			x.add(after)
		}
	}
	x.view, x.dataplanes = view, next
}

func (x *Inbounds) add(d *resource.Dataplane) {
	number := uint32(len(x.byNumber))
	if n := len(x.free); n > 0 {
		number, x.free = x.free[n-1], x.free[:n-1]
		x.byNumber[number] = d
	} else {
		x.byNumber = append(x.byNumber, d)
	}
	x.numbers[d] = number
	x.visit(d, func(of *match.Postings[parameter], p parameter) { of.Add(p, number) })
	if len(d.Inbounds) == 0 {
		x.gateways.Add(number)
	}
	key, destinations := listOf(d)
	list := x.outbounds[key]
	if list == nil {
		list = &outboundList{destinations: destinations}
		x.outbounds[key] = list
		for _, name := range destinations {
			x.lists[name] = append(x.lists[name], list)
		}
	}
	list.dataplanes.Add(number)
}

func (x *Inbounds) remove(d *resource.Dataplane) {
	number := x.numbers[d]
	delete(x.numbers, d)
	x.byNumber[number] = nil
	x.free = append(x.free, number)
	x.visit(d, func(of *match.Postings[parameter], p parameter) { of.Remove(p, number) })
	x.gateways.Remove(number)
	key, _ := listOf(d)
	list := x.outbounds[key]
	if list.dataplanes.Remove(number); list.dataplanes.Len() > 0 {
		return
	}
	delete(x.outbounds, key)
	for _, name := range list.destinations {
		if x.lists[name] = without(x.lists[name], list); len(x.lists[name]) == 0 {
			delete(x.lists, name)
		}
	}
}

func without(lists []*outboundList, gone *outboundList) []*outboundList {
	for i, list := range lists {
		if list == gone {
			lists[i] = lists[len(lists)-1]
			return lists[:len(lists)-1]
		}
	}
	return lists
}

// visit calls do for each parameter of a dataplane, with the index that has it.
func (x *Inbounds) visit(d *resource.Dataplane, do func(of *match.Postings[parameter], p parameter)) {
	put := func(of *match.Postings[parameter], key, value string) {
		do(of, parameter{key: key, value: value})
		do(of, parameter{key: key, any: true})
	}
	for key, value := range ParametersOf(d, -1) {
		put(&x.proxies, key, value)
	}
	for len(x.positions) < max(1, len(d.Inbounds)) {
		x.positions = append(x.positions, match.NewPostings[parameter]())
	}
	for i := range d.Inbounds {
		of := &x.positions[i]
		do(of, everyInbound)
		put(of, sectionKey, d.Inbounds[i].SectionName())
		for _, tag := range d.Inbounds[i].Tags {
			put(of, tag.Key, tag.Value)
		}
	}
	if len(d.Inbounds) > 0 {
		return
	}
	do(&x.positions[0], everyInbound)
	if d.Gateway != nil {
		for _, tag := range d.Gateway.Tags {
			put(&x.positions[0], tag.Key, tag.Value)
		}
	}
}

// listOf returns the distinct destinations of the outbounds of a dataplane by tags, and a key
// that identifies them.
func listOf(d *resource.Dataplane) (key string, destinations []string) {
	var b []byte
	seen := map[string]bool{}
	for i := range d.Outbounds {
		if d.Outbounds[i].Backend != nil {
			continue
		}
		name := (Destination{Tags: d.Outbounds[i].Tags}).String()
		if !seen[name] {
			seen[name] = true
			destinations = append(destinations, name)
			b = append(append(b, name...), 0)
		}
	}
	return string(b), destinations
}

// clientsOf returns the dataplanes with an outbound to a destination.
func (x *Inbounds) clientsOf(d Destination) index.Set {
	var all index.Set
	for _, list := range x.lists[d.String()] {
		all = all.Or(list.dataplanes.Commit())
	}
	return all
}

// accepted returns the dataplanes of a set whose inbound at a position is accepted.
// Each dataplane of the set has the inbound.
func (x *Inbounds) accepted(p partition.Predicate, position int, of index.Set) index.Set {
	switch p.Op() {
	case partition.OpEqual, partition.OpPresent:
		return of.And(x.having(p, position))
	case partition.OpNot:
		return of.AndNot(x.accepted(p.Members()[0], position, of))
	case partition.OpOr:
		var any index.Set
		for _, m := range p.Members() {
			any = any.Or(x.accepted(m, position, of))
		}
		return any
	}
	var not []partition.Predicate // of the members that negate a parameter: often most of them
	for _, m := range p.Members() {
		if m.Op() == partition.OpNot && isLiteral(m.Members()[0]) {
			not = append(not, m.Members()[0])
		} else if of = x.accepted(m, position, of); of.Len() == 0 {
			return of
		}
	}
	left := of.Edit()
	for _, m := range not {
		left.RemoveAll(x.having(m, position))
	}
	return left.Commit()
}

func isLiteral(p partition.Predicate) bool {
	return p.Op() == partition.OpEqual || p.Op() == partition.OpPresent
}

// having returns the dataplanes that have a parameter at the inbound with a position.
func (x *Inbounds) having(literal partition.Predicate, position int) index.Set {
	p := parameter{key: literal.Key(), value: literal.Value(), any: literal.Op() == partition.OpPresent}
	if p.key == nameKey || p.key == NamespaceKey || strings.HasPrefix(p.key, labelPrefix) { // of the whole dataplane
		return x.proxies.Set(p)
	}
	return x.positions[position].Set(p)
}
