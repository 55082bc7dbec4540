package gate

import (
	"math"
	"testing"
)

func TestFit(t *testing.T) {
	for _, test := range []struct {
		name  string
		value func(n float64) float64
		want  float64
	}{
		{"constant", func(float64) float64 { return 7 }, 0},
		{"nothing", func(float64) float64 { return 0 }, 0},
		{"linear", func(n float64) float64 { return 3 * n }, 1},
		{"quadratic", func(n float64) float64 { return n * n / 5 }, 2},
		{"falling", func(n float64) float64 { return 8 / n }, -1},
		{"n log n is a little above linear", func(n float64) float64 { return n * math.Log2(n) }, 1.1097},
	} {
		t.Run(test.name, func(t *testing.T) {
			var points []point
			for _, n := range []float64{1e3, 1e4, 1e5, 1e5} {
				points = append(points, point{n, test.value(n)})
			}
			got, err := fit(points)
			if err != nil || math.Abs(got-test.want) > 1e-4 {
				t.Errorf("got %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

// The slope of linear growth is exactly 1, so that it is within a limit of 1.
func TestFitRounds(t *testing.T) {
	for k := 1.0; k < 300; k++ {
		got, err := fit([]point{{10, 10 * k}, {100, 100 * k}, {1000, 1000 * k}})
		if err != nil || got != 1 {
			t.Errorf("%v for each: got %v, %v", k, got, err)
		}
	}
}
