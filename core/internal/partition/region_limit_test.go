package partition

import (
	"errors"
	"fmt"
	"testing"
)

// Regions past their limit are counted and not built: building them would take
// more time than the partition itself.
func TestRegionsPastTheLimitAreNotBuilt(t *testing.T) {
	const keys = 10
	var items []Predicate
	for i := range keys {
		items = append(items, Equal(fmt.Sprint("k", i), "v"))
	}
	allocations := func(limit int, passes bool) float64 {
		p, err := Build(items, collecting{}, Limits{Regions: limit})
		if err != nil {
			t.Fatal(err)
		}
		return testing.AllocsPerRun(3, func() {
			_, _, err := Regions(p, func(s uint64) uint64 { return s })
			var past *LimitError
			if errors.As(err, &past) != passes || passes && past.Resource != RegionsResource {
				t.Errorf("with a limit of %d: %v", limit, err)
			}
		})
	}
	built, refused := allocations(1<<keys, false), allocations(1<<keys-1, true)
	if refused > built/50 {
		t.Errorf("%v allocations for regions past the limit, %v for as many within it", refused, built)
	}
}
