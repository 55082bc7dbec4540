package pages

import (
	"strings"
	"testing"
)

// The line of a plot ends at its right edge, even if all proxies converged within a millisecond.
func TestPlotHasWidth(t *testing.T) {
	for _, samples := range [][]Sample{
		{{Milliseconds: 0, Converged: 1, Of: 1}},
		{{Milliseconds: 0, Converged: 0, Of: 1}, {Milliseconds: 0, Converged: 1, Of: 1}},
		{{Milliseconds: 0, Converged: 0, Of: 2}, {Milliseconds: 5, Converged: 1, Of: 2}, {Milliseconds: 40, Converged: 2, Of: 2}},
	} {
		points := strings.Fields(newConvergencePlot(&Commit{Convergence: samples}).Points)
		if first, last := points[0], points[len(points)-1]; !strings.HasPrefix(first, "0,") || !strings.HasPrefix(last, "120,") {
			t.Errorf("%v: the line goes from %s to %s", samples, first, last)
		}
	}
}
