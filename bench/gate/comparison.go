package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Comparison is the result of the gate.
type Comparison struct {
	Base, Head string // labels of the compared sides
	Rounds     int    // of benchmarks that needed no further rounds
	Rows       []Row
	FailOn     []Verdict // see [Config.FailOn]
}

func (c *Comparison) fails(r Row) bool {
	return r.Verdict.fails() || slices.Contains(c.FailOn, r.Verdict)
}

// OK reports whether no row fails the gate.
func (c *Comparison) OK() bool { return !slices.ContainsFunc(c.Rows, c.fails) }

// Result returns fail, inconclusive or pass. A comparison is inconclusive if no
// row fails, but some are inconclusive.
func (c *Comparison) Result() string {
	switch {
	case !c.OK():
		return "fail"
	case len(having(c.Rows, Inconclusive)) > 0:
		return "inconclusive"
	}
	return "pass"
}

// summary is the result in one line.
func (c *Comparison) summary() string {
	result := strings.ToUpper(c.Result())
	all := plural(len(c.Rows), "measurement")
	counts := map[Verdict]int{}
	for _, row := range c.Rows {
		if c.fails(row) || row.Verdict == Inconclusive {
			counts[row.Verdict]++
		}
	}
	if len(counts) == 0 {
		return fmt.Sprintf("%s: %s, none worse", result, all)
	}
	if c.OK() {
		return fmt.Sprintf("%s: %d of %s too noisy to be judged, none worse", result, counts[Inconclusive], all)
	}
	var parts []string
	for _, verdict := range []Verdict{Worse, Suspect, Missing, Inconclusive} {
		if n := counts[verdict]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verdict))
		}
	}
	return fmt.Sprintf("%s: %s of %s", result, strings.Join(parts, ", "), all)
}

// notes returns a line for each row that needs an explanation, and for each
// notable row that does not fail the gate. A benchmark that the head does not
// have is one line.
func (c *Comparison) notes() []string {
	var lines []string
	judged := false
	among := c.benchmarks()
	for _, row := range c.Rows {
		name := row.Benchmark.name(among)
		if row.Reason != lost {
			name += " " + row.Unit.Name
		}
		mark := ""
		switch {
		case c.fails(row):
			mark = "FAIL"
		case row.Verdict == Missing:
			mark = "warning"
		case row.Verdict == Cleared, row.Verdict == Inconclusive:
			mark = "note"
		}
		line := fmt.Sprintf("%s %s: %s", mark, name, row.Reason)
		if mark != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		judged = judged || !slices.Contains([]Verdict{New, Missing, Ungated}, row.Verdict)
	}
	if !judged {
		lines = append(lines, "warning nothing was compared: base and head have no benchmark in common")
	}
	rank := func(line string) int {
		return slices.Index([]string{"FAIL", "note", "warning"}, line[:strings.Index(line, " ")])
	}
	slices.SortStableFunc(lines, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	return lines
}

// benchmarks returns the benchmark of each row.
func (c *Comparison) benchmarks() []benchmarkID {
	var all []benchmarkID
	for _, row := range c.Rows {
		all = append(all, row.Benchmark)
	}
	return all
}

// packages returns the packages in the order of the rows.
func (c *Comparison) packages() []string {
	var packages []string
	for _, row := range c.Rows {
		if !slices.Contains(packages, row.Benchmark.Package) {
			packages = append(packages, row.Benchmark.Package)
		}
	}
	return packages
}
