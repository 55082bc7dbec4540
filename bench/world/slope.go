package world

import (
	"math"
	"slices"
)

// Slope is how the time of a change grows with the number of dataplanes: as
// their number to the power of it. 0 is not at all, 1 is in proportion.
type Slope struct {
	Change string  `json:"change"`
	Slope  float64 `json:"slope"`
	Fixed  bool    `json:"fixed"` // as many dataplanes are touched in each world
}

// Slopes compares worlds of one shape and different sizes: for each change
// that worlds of two sizes or more have, the line through the logarithms of sizes and
// times with the least squares. The times are the least ones: on a machine that
// is shared, what others do adds to all but the best.
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
