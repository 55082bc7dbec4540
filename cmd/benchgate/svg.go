package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/meshmatch/meshmatch/bench/gate"
	"github.com/meshmatch/meshmatch/cmd/benchgate/internal/chart"
)

// maxRatios is the number of rows of a picture. Those that differ most are kept.
const maxRatios = 60

// writeSVG writes a picture of the ratios of a comparison, the largest one first. Ratios that
// are exactly 1 are omitted.
func writeSVG(w io.Writer, c *gate.Comparison) error {
	var list []chart.Ratio
	same := 0
	for _, row := range c.Rows {
		ratio, ok := row.Ratio()
		if !ok || ratio <= 0 || math.IsInf(ratio, 0) {
			continue // a row of the table, but no ratio
		}
		r := chart.Ratio{Name: row.Benchmark.Name + " " + row.Unit.Name, Ratio: ratio, Low: ratio, High: ratio, Mark: markOf(row.Verdict)}
		if row.Interval != nil {
			r.Low, r.High = row.Interval.Low, row.Interval.High
		}
		if r.Ratio == 1 && r.Low == r.High {
			same++
			continue
		}
		list = append(list, r)
	}
	distance := func(r chart.Ratio) float64 { return math.Abs(math.Log(r.Ratio)) }
	slices.SortStableFunc(list, func(a, b chart.Ratio) int { return cmp.Compare(distance(b), distance(a)) })
	left := max(0, len(list)-maxRatios)
	list = list[:len(list)-left]
	slices.SortStableFunc(list, func(a, b chart.Ratio) int { return cmp.Compare(b.Ratio, a.Ratio) })
	title := fmt.Sprintf("%s: %s compared with %s; %d equal", c.Result(), c.Head, c.Base, same)
	if left > 0 {
		title += fmt.Sprintf(", %d closer to 1", left)
	}
	return chart.Ratios(w, title, list)
}

func markOf(v gate.Verdict) chart.Mark {
	switch v {
	case gate.Worse, gate.Suspect:
		return chart.Worse
	case gate.Better:
		return chart.Better
	case gate.Inconclusive, gate.Cleared:
		return chart.Unclear
	}
	return chart.Same
}
