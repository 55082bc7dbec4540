package world

import (
	"math"
	"slices"
)

// Slope is the growth of the time of a change with the number n of dataplanes: the
// time is proportional to n to the power of the slope. 0 is constant, 1 is linear.
type Slope struct {
	Change string  `json:"change"`
	Slope  float64 `json:"slope"`
	Fixed  bool    `json:"fixed"` // the change touches the same number of dataplanes in each world
}

// Slopes compares worlds of one shape and different sizes. Each change is measured
// in worlds of at least two sizes. A line is fitted by least squares through the
// logarithms of sizes and times. It uses the minimum time of each world, because
// other load on a shared machine only adds to times.
func Slopes(reports []*Report) []Slope {
	var slopes []Slope
	for _, c := range changes() {
		var x, y []float64
		for _, r := range reports {
			for _, row := range r.Changes {
				if row.Change == c.name && row.Least > 0 {
					x = append(x, math.Log(float64(r.Sizes.Dataplanes)))
					y = append(y, math.Log(float64(row.Least)))
				}
			}
		}
		if len(x) > 1 && slices.Min(x) < slices.Max(x) {
			slopes = append(slopes, Slope{c.name, leastSquares(x, y), c.fixed})
		}
	}
	return slopes
}

func leastSquares(x, y []float64) float64 {
	var meanX, meanY float64
	for i := range x {
		meanX += x[i] / float64(len(x))
		meanY += y[i] / float64(len(y))
	}
	var above, below float64
	for i := range x {
		above += (x[i] - meanX) * (y[i] - meanY)
		below += (x[i] - meanX) * (x[i] - meanX)
	}
	return above / below
}
