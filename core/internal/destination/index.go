package destination

import (
	"iter"
	"sync"

	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Index contains the `to` items of the policies of a mesh, by the destinations that they
// find. Dataplanes share its work: references are resolved once for all dataplanes, and
// items that apply together are merged once. The index of a kind is made when the first
// confs of the kind are needed. It is immutable except for its caches, and safe for
// concurrent use.
type Index struct {
	set      *Directory
	policies Policies
	caches   *Caches
	kinds    sync.Map // *kindItems, by the name of the kind
}

// Policies are the policies of a mesh. It is immutable.
type Policies interface {
	// All yields the policies. Policies of one kind are in order; later ones override.
	All() iter.Seq[*resource.Policy]
	// Slot returns a small number that identifies a policy, less than Limit. A policy keeps
	// its number in the versions of the list that have it.
	Slot(p *resource.Policy) uint32
	Limit() uint32
	// Reading returns the way in which the policies are read.
	Reading() semantics.Reading
}

// Index returns the index of the policies of a mesh. The caches may come from an
// earlier index, even of other destinations.
func (s *Directory) Index(policies Policies, caches *Caches) *Index {
	return &Index{set: s, policies: policies, caches: caches}
}

// After returns the index of the same destinations and of the next version of the
// policies. Changes yields what differs: the earlier version of a policy, or nil, and the
// current one, or nil. The cost is proportional to the difference: to the number of
// changed items and to the lengths of the lists that contain them. The two versions share
// the merged confs of items that did not change.
func (x *Index) After(policies Policies, changes iter.Seq2[*resource.Policy, *resource.Policy]) *Index {
	edits := map[string]*kindEdit{}
	of := func(p *resource.Policy) *kindEdit {
		e := edits[p.Kind]
		if e == nil {
			e = new(kindEdit)
			edits[p.Kind] = e
		}
		return e
	}
	for old, next := range changes {
		if old != nil {
			e := of(old)
			e.removed = append(e.removed, old)
		}
		if next != nil {
			e := of(next)
			e.added = append(e.added, next)
		}
	}
	after := x.set.Index(policies, x.caches)
	for name, made := range x.kinds.Range {
		k := made.(*kindItems)
		if e := edits[name.(string)]; e != nil {
			k = k.after(e, policies)
		}
		if k != nil {
			after.kinds.Store(name, k)
		}
	}
	return after
}

// ForDirectory returns the index of the same policies and of other destinations: of the next version
// of the set. The items that find destinations that were added or changed are looked up
// again.
func (x *Index) ForDirectory(set *Directory) *Index {
	if set == x.set {
		return x
	}
	after := set.Index(x.policies, x.caches)
	for name, made := range x.kinds.Range {
		after.kinds.Store(name, made.(*kindItems).forSet(set))
	}
	return after
}

// itemsOf returns the items of a kind.
func (x *Index) itemsOf(kind *resource.Kind) *kindItems {
	if known, ok := x.kinds.Load(kind.Name); ok {
		return known.(*kindItems)
	}
	made, _ := x.kinds.LoadOrStore(kind.Name, x.newKindItems(kind))
	return made.(*kindItems)
}
