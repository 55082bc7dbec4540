package match

import (
	"iter"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// SameMatched reports whether a list consists of the selected policies, in the
// same versions.
func SameMatched(m rules.Matched, selected []rules.Selected) bool {
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

// Replace returns the list with policies replaced by new versions, given by old
// version, and reports whether the list contains any of the old ones. The result
// shares with m the pages without replaced policies.
func Replace(m rules.Matched, versions map[*resource.Policy]*resource.Policy) (next rules.Matched, replaced bool) {
	old := policySet(versions)
	pages := m.Pages()
	for n, page := range m.Pages() {
		var copied []rules.Selected
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
		if !replaced {
			pages, replaced = slices.Clone(pages), true
		}
		pages[n] = copied
	}
	return m.WithPages(pages), replaced
}

// SameWithout reports whether m is the list all without the policies at the given
// positions, which are sorted ([rules.Matched.Without]).
func SameWithout(m, all rules.Matched, positions []int) bool {
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

// Replaced yields the old and the new version of each policy that differs
// between an earlier list and m, which must have the same length. Shared pages
// are skipped.
func Replaced(earlier, m rules.Matched) iter.Seq2[*resource.Policy, *resource.Policy] {
	return func(yield func(old, next *resource.Policy) bool) {
		for n, page := range m.Pages() {
			before := earlier.Pages()[n]
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

// Among yields the policies of m that are keys of a map. Pages that m shares
// with another list are skipped.
func Among[T any](m, other rules.Matched, policies map[*resource.Policy]T) iter.Seq[*resource.Policy] {
	return func(yield func(*resource.Policy) bool) {
		wanted := policySet(policies)
		for n, page := range m.Pages() {
			if n < len(other.Pages()) && &other.Pages()[n][0] == &page[0] {
				continue
			}
			for i := range page {
				if p := page[i].Policy; wanted(p) && !yield(p) {
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
