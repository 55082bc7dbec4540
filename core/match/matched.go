package match

import (
	"iter"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// Matched is the policies of one kind that select a dataplane, in order: later
// ones override. It is immutable; the zero Matched is empty.
//
// It stands in pages, so that lists which differ in the versions of some
// policies share the others. A list of 1,090 takes 27 KB; with another version
// of one policy it takes 1.7 KB more (BenchmarkMatchedReplace).
type Matched struct {
	pages [][]Selected // all but the last are full
	n     int
}

const matchedPage = 32

// NewMatched returns a list of what was selected, which is copied.
func NewMatched(selected []Selected) Matched {
	pages := slices.Chunk(slices.Clone(selected), matchedPage)
	return Matched{pages: slices.AppendSeq(make([][]Selected, 0, (len(selected)+matchedPage-1)/matchedPage), pages), n: len(selected)}
}

// Len returns the number of policies.
func (m Matched) Len() int { return m.n }

// At returns a policy by its place. It must not be changed.
func (m Matched) At(i int) *Selected { return &m.pages[i/matchedPage][i%matchedPage] }

// All yields the policies in order. They must not be changed.
func (m Matched) All() iter.Seq2[int, *Selected] {
	return func(yield func(int, *Selected) bool) {
		for n, page := range m.pages {
			for i := range page {
				if !yield(n*matchedPage+i, &page[i]) {
					return
				}
			}
		}
	}
}

// Is reports whether the list is of what was selected, in the same versions.
func (m Matched) Is(selected []Selected) bool {
	if m.n != len(selected) {
		return false
	}
	for i, s := range m.All() {
		if !s.Equal(&selected[i]) {
			return false
		}
	}
	return true
}

// Replace returns the list with new versions in the place of old ones, and
// whether it has any of the old ones.
func (m Matched) Replace(versions map[*resource.Policy]*resource.Policy) (next Matched, any bool) {
	old := policySet(versions)
	for n, page := range m.pages {
		var copied []Selected
		for i := range page {
			if p := page[i].Policy; old(p) {
				if copied == nil {
					copied = slices.Clone(page)
				}
				copied[i].Policy = versions[p]
			}
		}
		if copied == nil {
			continue
		}
		if !any {
			m.pages, any = slices.Clone(m.pages), true
		}
		m.pages[n] = copied
	}
	return m, any
}

// Since yields the old and the new version where m has another policy than an
// earlier list of the same length. Pages that both share are not looked at.
func (m Matched) Since(earlier Matched) iter.Seq2[*resource.Policy, *resource.Policy] {
	return func(yield func(old, next *resource.Policy) bool) {
		for n, page := range m.pages {
			before := earlier.pages[n]
			if &before[0] == &page[0] {
				continue
			}
			for i := range page {
				if old, next := before[i].Policy, page[i].Policy; old != next && !yield(old, next) {
					return
				}
			}
		}
	}
}

// Among yields those of the policies that are keys of a map.
func Among[T any](m Matched, policies map[*resource.Policy]T) iter.Seq[*resource.Policy] {
	return func(yield func(*resource.Policy) bool) {
		wanted := policySet(policies)
		for _, s := range m.All() {
			if wanted(s.Policy) && !yield(s.Policy) {
				return
			}
		}
	}
}

// policySet returns a test of being a key. Few keys are compared one by one.
func policySet[T any](policies map[*resource.Policy]T) func(*resource.Policy) bool {
	if len(policies) > 4 {
		return func(p *resource.Policy) bool { _, is := policies[p]; return is }
	}
	keys := slices.Collect(maps.Keys(policies))
	return func(p *resource.Policy) bool { return slices.Contains(keys, p) }
}
