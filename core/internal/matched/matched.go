package matched

import (
	"iter"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Selected is a policy that selects a dataplane, with the inbounds that it
// selects or, on a builtin gateway, the listeners of its MeshGateway. The set is empty on
// a dataplane without either.
type Selected struct {
	Policy   *resource.Policy
	Inbounds InboundSet
}

// Equal reports whether both have the same version of a policy and the same
// inbounds.
func (s *Selected) Equal(o *Selected) bool {
	return s.Policy == o.Policy && s.Inbounds.equal(&o.Inbounds)
}

// Matched is the list of the policies of one kind that select a dataplane, in
// order: later policies override earlier ones (SPEC 3). It is immutable; the
// zero Matched is empty.
//
// The list consists of pages, which several lists can share (see [Pager]).
type Matched struct {
	pages []*Page
	ends  []uint32 // parallel to pages: the number of policies in the pages up to and including this one
}

// Page is a run of consecutive policies that lists share. It is immutable, except that the
// first caller of Slots determines what that returns.
type Page struct {
	selected    []Selected
	hash        uint64
	forInbounds bool // some of the policies have items for inbounds
	slots       atomic.Pointer[[]SlotBits]
}

// SlotBits are the bits of 64 slots, from 64*At. A slot is a number that identifies a policy.
type SlotBits struct {
	At   uint32
	Bits uint64
}

// newPage returns a page with a copy of the policies.
func newPage(selected []Selected, hash uint64) *Page {
	any := slices.ContainsFunc(selected, func(s Selected) bool { return hasInboundItems(s.Policy) })
	return &Page{selected: slices.Clone(selected), hash: hash, forInbounds: any}
}

// hasInboundItems reports whether a policy has items for inbounds: rules or `from`.
func hasInboundItems(p *resource.Policy) bool {
	return len(p.Rules)+len(p.From) > 0 && !p.TargetRef.Kind.IsRoute()
}

// Selected returns the policies of the page. The caller must not change them.
func (p *Page) Selected() []Selected { return p.selected }

// Slots returns the set of the slots that the function of returns for policies of the page,
// without those for which it returns false. It calls the function at the first call only, so
// each call must pass a function with the same results. Policies that follow each other in the
// order often have consecutive slots, so a page has a few words.
func (p *Page) Slots(of func(*resource.Policy) (slot uint32, has bool)) []SlotBits {
	if known := p.slots.Load(); known != nil {
		return *known
	}
	words := []SlotBits{}
	for i := range p.selected {
		slot, has := of(p.selected[i].Policy)
		if !has {
			continue
		}
		at := slices.IndexFunc(words, func(w SlotBits) bool { return w.At == slot/64 })
		if at < 0 {
			at = len(words)
			words = append(words, SlotBits{At: slot / 64})
		}
		words[at].Bits |= 1 << (slot % 64)
	}
	words = slices.Clip(words)
	p.slots.Store(&words) // another caller may store equal words
	return words
}

// NewMatched returns a list with a copy of the given policies, in one page that no other
// list shares.
func NewMatched(selected []Selected) Matched {
	if len(selected) == 0 {
		return Matched{}
	}
	return Matched{[]*Page{newPage(selected, 0)}, []uint32{uint32(len(selected))}}
}

// Len returns the number of policies.
func (m Matched) Len() int {
	if len(m.ends) == 0 {
		return 0
	}
	return int(m.ends[len(m.ends)-1])
}

// At returns policy i of the list. The caller must not change it.
func (m Matched) At(i int) *Selected {
	page := sort.Search(len(m.ends), func(page int) bool { return m.ends[page] > uint32(i) })
	selected := m.pages[page].selected
	return &selected[len(selected)-int(m.ends[page])+i]
}

// Below returns a reader that is at the end of the list.
func (m Matched) Below() Below { return Below{m, len(m.pages) - 1} }

// Below reads policies at descending positions of a list, without the search of
// [Matched.At].
type Below struct {
	list Matched
	page int
}

// At returns policy i of the list. Each i must be at most the i of the previous call. The
// caller must not change the policy.
func (b *Below) At(i int) *Selected {
	for b.page > 0 && b.list.ends[b.page-1] > uint32(i) {
		b.page--
	}
	selected := b.list.pages[b.page].selected
	return &selected[len(selected)-int(b.list.ends[b.page])+i]
}

// All yields the policies in order, with their position. The caller must not
// change them.
func (m Matched) All() iter.Seq2[int, *Selected] {
	return func(yield func(int, *Selected) bool) {
		at := 0
		for _, page := range m.pages {
			for i := range page.selected {
				if !yield(at, &page.selected[i]) {
					return
				}
				at++
			}
		}
	}
}

// ForInbounds yields the policies that have items for inbounds, in order. It reads only
// pages with such policies.
func (m Matched) ForInbounds() iter.Seq[*Selected] {
	return func(yield func(*Selected) bool) {
		for _, page := range m.pages {
			if !page.forInbounds {
				continue
			}
			for i := range page.selected {
				if s := &page.selected[i]; hasInboundItems(s.Policy) && !yield(s) {
					return
				}
			}
		}
	}
}

// Pages returns the pages of the list. The caller must not change the result.
func (m Matched) Pages() []*Page { return m.pages }

func (m *Matched) append(page *Page) {
	m.ends = append(m.ends, uint32(m.Len()+len(page.selected)))
	m.pages = append(m.pages, page)
}
