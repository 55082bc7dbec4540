package match

import (
	"iter"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/matched"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// SameMatched reports whether a list consists of the selected policies, in the
// same versions.
func SameMatched(m results.Matched, selected []results.Selected) bool {
	if m.Len() != len(selected) {
		return false
	}
	for i, s := range m.All() {
		if !s.Equal(&selected[i]) {
			return false
		}
	}
	return true
}

// Replace returns the list with some policies replaced; versions maps each old
// version to its new one. It reports whether the list contains any old version.
// The result shares with m the pages without replaced policies. It uses the buffer.
func (b *Buffer) Replace(pager *matched.Pager, m results.Matched, versions map[*resource.Policy]*resource.Policy) (next results.Matched, replaced bool) {
	old := policySet(versions)
	return pager.Replace(m, func(page *matched.Page) []results.Selected {
		selected := page.Selected()
		first := slices.IndexFunc(selected, func(s results.Selected) bool { return old(s.Policy) })
		if first < 0 {
			return nil
		}
		b.selected = append(b.selected[:0], selected...)
		for i := first; i < len(b.selected); i++ {
			if p := b.selected[i].Policy; old(p) {
				b.selected[i].Policy = versions[p]
			}
		}
		return b.selected
	})
}

// Without returns the list without the policies at the given positions, which must be
// sorted and distinct.
func Without(pager *matched.Pager, m results.Matched, positions []int) results.Matched {
	from := 0 // position of the page
	left := []results.Selected{}
	next, _ := pager.Replace(m, func(page *matched.Page) []results.Selected {
		selected, to := page.Selected(), from+len(page.Selected())
		left = left[:0]
		for i := range selected {
			if len(positions) > 0 && positions[0] == from+i {
				positions = positions[1:]
			} else {
				left = append(left, selected[i])
			}
		}
		if from = to; len(left) == len(selected) {
			return nil
		}
		return left
	})
	return next
}

// SameWithout reports whether m equals the list all without the policies at the
// given positions, which must be sorted.
func SameWithout(m, all results.Matched, positions []int) bool {
	if m.Len() != all.Len()-len(positions) {
		return false
	}
	left := 0 // index in m
	for i, s := range all.All() {
		if len(positions) > 0 && positions[0] == i {
			positions = positions[1:]
			continue
		}
		if !s.Equal(m.At(left)) {
			return false
		}
		left++
	}
	return true
}

// Replacement is a policy at a position of a list, and the policy that is there in a
// later list.
type Replacement struct {
	At        int
	Old, Next *resource.Policy
}

// Replaced yields the policies that differ between an earlier list and m, which must have
// the same length. Shared pages are skipped.
func Replaced(earlier, m results.Matched) iter.Seq[Replacement] {
	return func(yield func(Replacement) bool) {
		at := 0
		var before, after []results.Selected // what is left of the two pages
		pagesBefore, pages := earlier.Pages(), m.Pages()
		for {
			if len(before) == 0 && len(after) == 0 {
				for len(pagesBefore) > 0 && len(pages) > 0 && pagesBefore[0] == pages[0] {
					at += len(pages[0].Selected())
					pagesBefore, pages = pagesBefore[1:], pages[1:]
				}
				if len(pages) == 0 {
					return
				}
			}
			if len(before) == 0 {
				before, pagesBefore = pagesBefore[0].Selected(), pagesBefore[1:]
			}
			if len(after) == 0 {
				after, pages = pages[0].Selected(), pages[1:]
			}
			for len(before) > 0 && len(after) > 0 {
				if old, next := before[0].Policy, after[0].Policy; old != next && !yield(Replacement{at, old, next}) {
					return
				}
				before, after, at = before[1:], after[1:], at+1
			}
		}
	}
}

// Unshared returns the pages of two lists, without the pages that both lists share at the
// beginning or at the end.
func Unshared(a, b results.Matched) (ofA, ofB []*matched.Page) {
	ofA, ofB = a.Pages(), b.Pages()
	for len(ofA) > 0 && len(ofB) > 0 && ofA[0] == ofB[0] {
		ofA, ofB = ofA[1:], ofB[1:]
	}
	for len(ofA) > 0 && len(ofB) > 0 && ofA[len(ofA)-1] == ofB[len(ofB)-1] {
		ofA, ofB = ofA[:len(ofA)-1], ofB[:len(ofB)-1]
	}
	return ofA, ofB
}

// Among yields the policies of m that are keys of a map. Pages that m shares with the
// beginning or the end of another list are skipped.
func Among[T any](m, other results.Matched, policies map[*resource.Policy]T) iter.Seq[*resource.Policy] {
	return func(yield func(*resource.Policy) bool) {
		wanted := policySet(policies)
		pages, _ := Unshared(m, other)
		for _, page := range pages {
			selected := page.Selected()
			for i := range selected {
				if p := selected[i].Policy; wanted(p) && !yield(p) {
					return
				}
			}
		}
	}
}

// policySet returns a function that reports whether a policy is a key of the
// map. If there are few keys, it compares each.
func policySet[T any](policies map[*resource.Policy]T) func(*resource.Policy) bool {
	if len(policies) > 4 {
		return func(p *resource.Policy) bool { _, is := policies[p]; return is }
	}
	keys := slices.Collect(maps.Keys(policies))
	return func(p *resource.Policy) bool { return slices.Contains(keys, p) }
}
