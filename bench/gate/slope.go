package gate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// A slope is an upper limit of the growth of a measurement with a size in the
// name:
//
//	slope  BENCHMARK/N=*  UNIT  <=  NUMBER
//
// The number is the slope of log(measurement) over log(size): 0 is constant, 1
// linear, 2 quadratic. The star is the size: 1000, 1k, 1Ki.
type slope struct {
	line
	selector selector
	unit     string
	limit    float64
}

// minSizes is the number of sizes that a slope needs. A line fits any two
// points.
const minSizes = 3

// A point is a measurement of one size.
type point struct {
	size, value float64
}

// A curve contains the benchmarks of one package and GOMAXPROCS that a slope's
// pattern matches.
type curve struct {
	pkg, procs string
	points     []point
}

func (s slope) check(results *Results, _ bool) ([]outcome, error) {
	matches, err := s.matches(s.selector, results)
	if err != nil {
		return nil, err
	}
	curves, err := s.curves(results, matches)
	if err != nil {
		return nil, err
	}
	return each(curves, func(c curve) (outcome, error) {
		slices.SortFunc(c.points, func(a, b point) int { return cmp.Compare(a.size, b.size) })
		exponent, err := fit(c.points)
		if err != nil {
			return outcome{}, s.errorf("%s%s: %v", s.selector.text, c.procs, err)
		}
		names := fmt.Sprintf("%s, %s to %s", results.name(benchmarkID{c.pkg, s.selector.text + c.procs}), formatExact(c.points[0].size), formatExact(c.points[len(c.points)-1].size))
		outcome := s.outcome(names, results.Unit(s.unit), exponent, s.limit, c.pkg)
		outcome.Plain = true
		return outcome, nil
	})
}

// curves measures the matches and groups them, in the order of the output.
func (s slope) curves(results *Results, matches []match) ([]curve, error) {
	var curves []curve
	var errs []error
	for _, m := range matches {
		size, err := parseQuantity(m.stars[0], sizeSuffixes)
		if err != nil {
			errs = append(errs, s.errorf("the * of %s is not a size in %s: %v", s.selector.text, m.benchmark.Name, err))
			continue
		}
		value, err := measure(s.line, results, m.benchmark, s.unit)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		i := slices.IndexFunc(curves, func(c curve) bool { return c.pkg == m.benchmark.Package && c.procs == m.procs })
		if i < 0 {
			i = len(curves)
			curves = append(curves, curve{pkg: m.benchmark.Package, procs: m.procs})
		}
		curves[i].points = append(curves[i].points, point{size, value})
	}
	return curves, errors.Join(errs...)
}

// fit returns the slope of the line through the points' logarithms that has
// the least squared error. The points are sorted by size.
func fit(points []point) (float64, error) {
	sizes := slices.CompactFunc(slices.Clone(points), func(a, b point) bool { return a.size == b.size })
	if len(sizes) < minSizes {
		return 0, fmt.Errorf("a slope needs %d sizes, there are %d", minSizes, len(sizes))
	}
	if points[0].size <= 0 {
		return 0, errors.New("a size of 0 has no logarithm; leave it out of the benchmark or of the pattern")
	}
	if flat := !slices.ContainsFunc(points, func(p point) bool { return p.value != points[0].value }); flat {
		return 0, nil // even if all are zero
	}
	var meanX, meanY float64
	for _, p := range points {
		if p.value <= 0 {
			return 0, fmt.Errorf("it is %s for size %s, which has no logarithm; use a ceiling", formatExact(p.value), formatExact(p.size))
		}
		meanX += math.Log(p.size) / float64(len(points))
		meanY += math.Log(p.value) / float64(len(points))
	}
	var xx, xy float64
	for _, p := range points {
		dx, dy := math.Log(p.size)-meanX, math.Log(p.value)-meanY
		xx += dx * dx
		xy += dx * dy
	}
	// Without rounding, linear growth may exceed a limit of 1.
	return math.Round(xy/xx*1e9) / 1e9, nil
}
