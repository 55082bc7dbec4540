package world

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core"
)

// Every change of every shape does what it is meant to: Measure checks the
// dataplanes that each commit tells of.
func TestMeasure(t *testing.T) {
	for _, shape := range Shapes() {
		t.Run(shape.Name, func(t *testing.T) {
			steps := 0
			r, err := Measure(context.Background(), Options{Shape: shape, Dataplanes: 2_000, Policies: 300, Outbounds: 4, Samples: 5}, func(string) { steps++ })
			if err != nil {
				t.Fatal(err)
			}
			if want := len(changes()) - 1; len(r.Changes) != want || steps < want { // one needs a larger world
				t.Errorf("%d changes, want %d", len(r.Changes), want)
			}
			if r.Sizes.Dataplanes != 2_000 || r.Sizes.Policies != 300 || r.Build <= 0 || r.Heap <= 0 || r.Resources <= 0 {
				t.Errorf("%+v", r)
			}
			if r.ReadAllocs != 0 {
				t.Errorf("a read allocates %d times", r.ReadAllocs)
			}
			for _, row := range r.Changes {
				if row.Least <= 0 || row.P50 < row.Least || row.P99 < row.P50 || row.Touched == 0 {
					t.Errorf("%+v", row)
				}
			}
		})
	}
}

func TestMeasureTooSmall(t *testing.T) {
	if _, err := Measure(context.Background(), Options{Shape: Shapes()[0], Dataplanes: 10}, func(string) {}); err == nil {
		t.Error("a world of 10 dataplanes was measured")
	}
}

func TestSlopes(t *testing.T) {
	report := func(n int, least time.Duration) *Report {
		return &Report{Sizes: core.Sizes{Dataplanes: n}, Changes: []Row{{Change: "relabel a dataplane", Least: least}}}
	}
	for name, c := range map[string]struct {
		reports []*Report
		want    float64
	}{
		"flat":            {[]*Report{report(1_000, 50), report(10_000, 50), report(100_000, 50)}, 0},
		"in proportion":   {[]*Report{report(1_000, 50), report(10_000, 500)}, 1},
		"the square root": {[]*Report{report(100, 50), report(10_000, 500)}, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			slopes := Slopes(c.reports)
			if len(slopes) != 1 || math.Abs(slopes[0].Slope-c.want) > 1e-9 || !slopes[0].Fixed {
				t.Errorf("got %+v, want %v", slopes, c.want)
			}
		})
	}
	if slopes := Slopes([]*Report{report(1_000, 50)}); len(slopes) != 0 {
		t.Errorf("one world has slopes %v", slopes)
	}
}

func TestPercentile(t *testing.T) {
	times := make([]time.Duration, 200)
	for i := range times {
		times[i] = time.Duration(200 - i)
	}
	if p50, p99 := percentile(times, 50), percentile(times, 99); p50 != 100 || p99 != 198 {
		t.Errorf("p50 is %d, p99 %d", p50, p99)
	}
}
