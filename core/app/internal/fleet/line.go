package fleet

import (
	"math"
	"slices"
)

// Million is the size of the fleet that lines are extended to.
const Million = 1_000_000

// A Line is a total that was measured for fleets of several sizes, and the straight line with the
// least squares of relative errors through it.
type Line struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	// PerStream is the slope of the line: the unit for each further stream.
	PerStream float64 `json:"perStream"`
	// Growth is the exponent of the total between the smallest and the largest fleet: 1 is in
	// proportion to the number of streams.
	Growth float64 `json:"growth"`
	// Million is the value of the line at 1,000,000 streams.
	Million float64 `json:"atMillion"`
}

// leastCPU is what a step takes in the smallest fleet, in seconds, if it has a line: a profile has
// 100 samples in a second.
const leastCPU = 0.5

// Lines returns the lines of reports of at least two different sizes, otherwise nothing.
func Lines(reports []*Report) (lines []Line) {
	if len(reports) < 2 || reports[0].Streams == reports[len(reports)-1].Streams {
		return nil
	}
	add := func(name, unit string, total func(r *Report) float64) {
		var n, y []float64
		for _, r := range reports {
			n, y = append(n, float64(r.Streams)), append(y, total(r))
		}
		if slices.Min(y) <= 0 {
			return // too little to be measured
		}
		base, slope := fit(n, y)
		last := len(n) - 1
		lines = append(lines, Line{name, unit, slope, math.Log(y[last]/y[0]) / math.Log(n[last]/n[0]), base + slope*Million})
	}
	const bytes, seconds = "B", "s"
	perStream := func(of func(r *Report) float64) func(r *Report) float64 {
		return func(r *Report) float64 { return of(r) * float64(r.Streams) }
	}
	add("memory of the engine", bytes, perStream(func(r *Report) float64 { return r.Engine }))
	add("memory of the resources of proxies", bytes, perStream(func(r *Report) float64 { return r.Resources }))
	add("memory of streams of the source, with their clients", bytes, perStream(func(r *Report) float64 { return r.Source }))
	add("memory of relays", bytes, perStream(func(r *Report) float64 { return r.Relay }))
	for _, s := range reports[0].Steps {
		step := func(r *Report) *Step { return r.step(s.Name) }
		if s.CPU.Total() < leastCPU {
			continue
		}
		add(s.Name+": CPU of the source", seconds, func(r *Report) float64 { return step(r).CPU.Source })
		if s.Name != ConnectSource {
			add(s.Name+": CPU of relays", seconds, func(r *Report) float64 { return step(r).CPU.Relays })
		}
		add(s.Name+": CPU of all", seconds, func(r *Report) float64 { return step(r).CPU.Total() })
	}
	return lines
}

func (r *Report) step(name string) *Step {
	for i := range r.Steps {
		if r.Steps[i].Name == name {
			return &r.Steps[i]
		}
	}
	return new(Step)
}

// fit returns the line with the least squares of errors relative to y.
func fit(x, y []float64) (base, slope float64) {
	var w, wx, wy, wxx, wxy float64
	for i := range x {
		weight := 1 / (y[i] * y[i])
		w += weight
		wx += weight * x[i]
		wy += weight * y[i]
		wxx += weight * x[i] * x[i]
		wxy += weight * x[i] * y[i]
	}
	slope = (w*wxy - wx*wy) / (w*wxx - wx*wx)
	return (wy - slope*wx) / w, slope
}
