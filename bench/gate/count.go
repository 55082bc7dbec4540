package gate

import "strings"

// A count is how many benchmarks a pattern names:
//
//	count  BENCHMARK  NUMBER
//
// A rule with stars does not miss a benchmark that is gone or has another name,
// as long as one is left; a count does. It is an error where it does not hold.
type count struct {
	line
	selector selector
	want     int
}

func (c count) check(results *Results, _ bool) ([]Outcome, error) {
	matches, err := c.matches(c.selector, results)
	if err != nil {
		return nil, err
	}
	names := map[Benchmark]bool{} // one at several GOMAXPROCS counts once
	for _, m := range matches {
		names[Benchmark{m.benchmark.Package, strings.TrimSuffix(m.benchmark.Name, m.procs)}] = true
	}
	if n := len(names); n != c.want {
		return nil, c.errorf("%s named %s, not %d; if that is meant, change the number", plural(n, "benchmark"), c.selector.text, c.want)
	}
	n := float64(c.want)
	return []Outcome{c.outcome(c.selector.text, Unit{Name: "benchmarks", Class: Counter}, n, n)}, nil
}
