package gate

import "errors"

// A ceiling is an upper limit of what one benchmark measures:
//
//	ceiling  BENCHMARK  UNIT  LIMIT
type ceiling struct {
	line
	selector selector
	unit     string
	limit    float64
}

func (c ceiling) check(results *Results, times bool) ([]Outcome, error) {
	matches, err := c.matches(c.selector, results)
	if err != nil {
		return nil, err
	}
	var outcomes []Outcome
	var errs []error
	for _, m := range matches {
		value, err := measure(c.line, results, m.benchmark, c.unit)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		unit := results.Unit(c.unit)
		outcome := c.outcome(results.name(m.benchmark), unit, value, c.limit)
		outcome.Checked = times || unit.Class != Time
		outcomes = append(outcomes, outcome)
	}
	return outcomes, errors.Join(errs...)
}
