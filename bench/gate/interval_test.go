package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
)

func TestRatioInterval(t *testing.T) {
	repeat := func(n int, values ...float64) []float64 { return slices.Repeat(values, n) }
	for _, test := range []struct {
		name        string
		good, worse []float64
		want        interval
	}{
		{"equal and steady", repeat(10, 5), repeat(10, 5), interval{1, 1}},
		{"twice the time", repeat(10, 5), repeat(10, 10), interval{2, 2}},
		{"two modes on both sides, ten runs", repeat(5, 1, 2), repeat(5, 1, 2), interval{0.5, 2}},
		{"two modes on both sides, 100 runs", repeat(50, 1, 2), repeat(50, 1, 2), interval{1, 1}},
		{"zero on both sides", repeat(10, 0), repeat(10, 0), interval{1, 1}},
		{"from zero", repeat(10, 0), repeat(10, 1), interval{math.Inf(1), math.Inf(1)}},
		{"too few runs", repeat(3, 5), repeat(3, 5), interval{0, math.Inf(1)}},
	} {
		if got := ratioInterval(test.good, test.worse, 0.01); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

// Noise hides few slowdowns of 30 %, and most equal programs are found to be
// equal.
func TestRatioIntervalsUnderNoise(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, noise := range map[string]func() float64{
		"exponential": func() float64 { return 1 + random.ExpFloat64() },
		"log-normal":  func() float64 { return math.Exp(0.3 * random.NormFloat64()) },
		"uniform":     func() float64 { return 1 + 2*random.Float64() },
		"two modes":   func() float64 { return float64(1+random.IntN(2)) + 0.1*random.Float64() },
	} {
		for _, higherIsBetter := range []bool{false, true} {
			unit := unit{"sec/op", Time, higherIsBetter}
			same := func(ratio float64) (percent int) {
				for range 100 {
					sample := func(factor float64) *benchmath.Sample {
						values := make([]float64, 50)
						for i := range values {
							values[i] = factor * noise()
							if higherIsBetter {
								values[i] = 1 / values[i]
							}
						}
						return benchmath.NewSample(values, DefaultLimits().thresholds())
					}
					if all, half := ratioIntervals(sample(1), sample(ratio), unit, 0.01); min(all.High, half.High) <= 1.2 {
						percent++
					}
				}
				return percent
			}
			if equal, slower := same(1), same(1.3); equal < 50 || slower > 2 {
				t.Errorf("%s, %v: %d %% of equal and %d %% of slower programs are the same", name, higherIsBetter, equal, slower)
			}
		}
	}
}
