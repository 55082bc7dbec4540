package gate

import (
	"fmt"
	"io"
	"slices"
)

// An outcome is the result of a rule for one benchmark, or for one group of
// benchmarks that it compares.
type outcome struct {
	File  string // of the rule
	Line  int
	Rule  string // the text of the rule
	Names string // the benchmark, or the benchmarks that were compared
	Unit  unit   // of the measurements
	// Packages have the benchmarks; none for a count.
	Packages []string
	// Value and Limit are in the unit or, if Plain is set, plain numbers (of a
	// ratio or a slope).
	Value, Limit float64
	Plain        bool
	Checked      bool // false for the ceiling of a time, unless times are on
}

// Outcomes are the results of all rules of a file, in its order.
type Outcomes []outcome

// OK reports whether the value is within the limit or was not checked.
func (o outcome) OK() bool { return !o.Checked || o.Value <= o.Limit }

// OK reports whether the gate passes.
func (o Outcomes) OK() bool {
	return !slices.ContainsFunc(o, func(o outcome) bool { return !o.OK() })
}

// FailedPackages returns the import paths of the packages with a benchmark that
// is over a limit, in the order of the rules. Output of go test names them.
func (o Outcomes) FailedPackages() []string {
	var packages []string
	for _, one := range o {
		for _, path := range one.Packages {
			if !one.OK() && path != "" && !slices.Contains(packages, path) {
				packages = append(packages, path)
			}
		}
	}
	return packages
}

func (o outcome) verdict() string {
	switch {
	case !o.Checked:
		return "not checked"
	case o.OK():
		return "pass"
	}
	return "FAIL"
}

// format prints a value or limit of the outcome.
func (o outcome) format(v float64) string {
	switch {
	case o.Plain:
		return fmt.Sprintf("%.3g", v)
	case o.Unit.Class == Counter:
		return formatExact(v)
	}
	return formatScaled(v, o.Unit.Name)
}

// measured prints the value with its unit.
func (o outcome) measured() string {
	if o.Plain {
		return o.format(o.Value)
	}
	return o.format(o.Value) + " " + o.Unit.Name
}

var outcomeHeader = []string{"rule", "benchmark", "unit", "value", "limit", "verdict"}

func (o outcome) cells() []string {
	return []string{fmt.Sprintf("%s:%d", o.File, o.Line), o.Names, o.Unit.Name, o.format(o.Value), o.format(o.Limit), o.verdict()}
}

// Failures returns a line for each failure.
func (o Outcomes) Failures() []string {
	var lines []string
	for _, one := range o {
		if !one.OK() {
			lines = append(lines, fmt.Sprintf("FAIL %s:%d: %s: %s is %s", one.File, one.Line, one.Rule, one.Names, one.measured()))
		}
	}
	return lines
}

// notes returns the failures, and a line about unchecked ceilings.
func (o Outcomes) notes() []string {
	lines := o.Failures()
	unchecked := 0
	for _, one := range o {
		if !one.Checked {
			unchecked++
		}
	}
	if unchecked > 0 {
		lines = append(lines, fmt.Sprintf("note %s of times not checked: they hold on one known machine", plural(unchecked, "ceiling")))
	}
	return lines
}

// summary is the result in one line.
func (o Outcomes) summary() string {
	checked, failed := 0, 0
	for _, one := range o {
		if one.Checked {
			checked++
		}
		if !one.OK() {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Sprintf("FAIL: %d of %s", failed, plural(checked, "check"))
	}
	return "PASS: " + plural(checked, "check")
}

// WriteTable prints the outcomes as text, then the result.
func (o Outcomes) WriteTable(w io.Writer) error {
	table := [][]string{outcomeHeader}
	for _, one := range o {
		table = append(table, one.cells())
	}
	if err := writeAligned(w, table, 3, 4); err != nil {
		return err
	}
	return writeLines(w, slices.Concat([]string{""}, o.notes(), []string{o.summary()}))
}

// WriteMarkdown prints the outcomes for a comment in a pull request, with all
// checks folded away.
func (o Outcomes) WriteMarkdown(w io.Writer) error {
	lines := []string{"**Benchmarks " + o.summary() + "**", ""}
	for _, note := range o.notes() {
		lines = append(lines, "- "+note)
	}
	var rows [][]string
	for _, one := range o {
		rows = append(rows, one.cells())
	}
	lines = append(lines, "", "<details><summary>All checks</summary>", "")
	lines = append(lines, markdownTable(outcomeHeader, rows, 3, 4)...)
	return writeLines(w, append(lines, "</details>"))
}

// WriteJSON prints the outcomes as JSON:
//
//	{"pass": bool, "checks": [
//	  {"file", "line", "rule", "benchmark", "unit", "value", "limit", "verdict": "pass"|"fail"|"not checked"}
//	]}
//
// Numbers are in the tidied unit (sec/op, B/op), or plain for ratios and slopes.
func (o Outcomes) WriteJSON(w io.Writer) error {
	type check struct {
		File      string  `json:"file"`
		Line      int     `json:"line"`
		Rule      string  `json:"rule"`
		Benchmark string  `json:"benchmark"`
		Unit      string  `json:"unit"`
		Value     float64 `json:"value"`
		Limit     float64 `json:"limit"`
		Verdict   string  `json:"verdict"`
	}
	checks := []check{}
	for _, one := range o {
		verdict := one.verdict()
		if verdict == "FAIL" {
			verdict = "fail"
		}
		checks = append(checks, check{one.File, one.Line, one.Rule, one.Names, one.Unit.Name, one.Value, one.Limit, verdict})
	}
	return writeJSON(w, struct {
		Pass   bool    `json:"pass"`
		Checks []check `json:"checks"`
	}{o.OK(), checks})
}
