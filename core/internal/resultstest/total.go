package resultstest

import (
	"cmp"
	"fmt"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// CheckTotal returns an error that names policies for which order is not a
// strict total order: two different policies that compare equal, a pair that
// compares differently when swapped, or three policies in a cycle. It compares
// every triple.
func CheckTotal(order results.Order, policies []*resource.Policy) error {
	for _, a := range policies {
		for _, b := range policies {
			ab, ba := order(a, b), order(b, a)
			switch {
			case a.ID == b.ID && ab != 0:
				return fmt.Errorf("%s does not equal itself", a.ID)
			case a.ID != b.ID && ab == 0:
				return fmt.Errorf("%s and %s are in no order", a.ID, b.ID)
			case cmp.Compare(ab, 0) != -cmp.Compare(ba, 0):
				return fmt.Errorf("%s and %s compare differently when swapped", a.ID, b.ID)
			}
			for _, c := range policies {
				if ab < 0 && order(b, c) < 0 && order(a, c) >= 0 {
					return fmt.Errorf("%s, %s and %s are in a cycle", a.ID, b.ID, c.ID)
				}
			}
		}
	}
	return nil
}
