package gate

import (
	"slices"
)

// A ratio is an upper limit of one benchmark's measurement divided by
// another's. Both are from the same run, and so from the same machine under the
// same load:
//
//	ratio  BENCHMARK  /  BENCHMARK  UNIT  <=  NUMBER
//
// If both have stars, these match the same text on both sides. If only the
// first has stars, every match of it is divided by the single other benchmark.
type ratio struct {
	line
	over, under selector
	unit        string
	limit       float64
}

func (r ratio) check(results *Results, _ bool) ([]outcome, error) {
	overs, err := r.matches(r.over, results)
	if err != nil {
		return nil, err
	}
	unders, err := r.matches(r.under, results)
	if err != nil {
		return nil, err
	}
	return each(overs, func(over match) (outcome, error) { return r.checkOne(results, over, unders) })
}

func (r ratio) checkOne(results *Results, over match, unders []match) (outcome, error) {
	under, err := r.partner(over, unders)
	if err != nil {
		return outcome{}, err
	}
	a, err := measure(r.line, results, over.benchmark, r.unit)
	if err != nil {
		return outcome{}, err
	}
	b, err := measure(r.line, results, under.benchmark, r.unit)
	if err != nil {
		return outcome{}, err
	}
	if b == 0 {
		return outcome{}, r.errorf("%s is 0 %s and cannot be divided by; use a ceiling", under.benchmark.Name, r.unit)
	}
	names := results.name(over.benchmark) + " / " + results.name(under.benchmark)
	outcome := r.outcome(names, results.Unit(r.unit), a/b, r.limit, over.benchmark.Package, under.benchmark.Package)
	outcome.Plain = true
	return outcome, nil
}

// partner returns the benchmark to divide by: the only one or, if there are
// several, the one in the same package.
func (r ratio) partner(over match, unders []match) (match, error) {
	var found, near []match
	for _, under := range unders {
		if under.procs != over.procs || r.under.stars > 0 && !slices.Equal(under.stars, over.stars) {
			continue
		}
		found = append(found, under)
		if under.benchmark.Package == over.benchmark.Package {
			near = append(near, under)
		}
	}
	if len(near) > 0 {
		found = near
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return match{}, r.errorf("nothing that matches %s belongs to %s", r.under.text, over.benchmark.Name)
	}
	return match{}, r.errorf("%s could be divided by %d benchmarks, such as %s of %s and of %s; select one with a line `package`",
		over.benchmark.Name, len(found), found[0].benchmark.Name, found[0].benchmark.Package, found[1].benchmark.Package)
}
