package access

import (
	"math/bits"
	"slices"
)

// branch divides the requests by the first expression in the first undecided list: first
// the requests that match it, then the others. A variable that is compared with an
// expression is present.
func (s *search) branch(lists [][]item) error {
	var t *test
	for _, list := range lists {
		if !decided(list) {
			t = &list[0].tests[bits.TrailingZeros64(list[0].left)]
			break
		}
	}
	before := s.states[t.variable]
	defer func() { s.states[t.variable] = before }()
	for _, matching := range []bool{true, false} {
		next := before
		if matching {
			next.in = append(slices.Clone(before.in), t.expression)
			slices.Sort(next.in)
		} else {
			next.out = append(slices.Clone(before.out), t.expression)
			slices.Sort(next.out)
		}
		s.states[t.variable] = next
		_, some, err := s.text(t.variable)
		if err != nil {
			return err
		}
		if !some {
			continue
		}
		rest := make([][]item, len(lists))
		for i, list := range lists {
			if err := s.spend(len(list)); err != nil {
				return err
			}
			rest[i] = s.untilDecided(withExpression(list, t, matching))
		}
		if err := s.divide(rest); err != nil {
			return err
		}
	}
	return nil
}

// withExpression returns the items of a list for requests in which the expression of a
// test matches or, if matching is not set, does not match.
func withExpression(list []item, t *test, matching bool) []item {
	out := make([]item, 0, len(list))
	for _, it := range list {
		ok := true
		for left := it.left; left != 0; left &= left - 1 {
			k := bits.TrailingZeros64(left)
			if other := &it.tests[k]; other.how == matches && other.variable == t.variable && other.expression == t.expression {
				ok = ok && other.negated != matching
				it.left &^= 1 << k
			}
		}
		if ok {
			out = append(out, it)
		}
	}
	return out
}
