package gate

import (
	"fmt"
	"io"
	"slices"
)

// An Outcome is what a rule says about one benchmark, or about one group of
// benchmarks that it compares.
type Outcome struct {
	File  string // of the rule
	Line  int
	Rule  string // the rule's words
	Names string // the benchmark, or the benchmarks that were compared
	Unit  Unit   // of the measurements
	// Value and Limit are in the unit; of a ratio and a slope, where Plain is
	// set, they are plain numbers.
	Value, Limit float64
	Plain        bool
	Checked      bool // false for the ceiling of a time, unless times are on
}

// Outcomes are what all rules of a file say, in its order.
type Outcomes []Outcome

// OK tells whether the value keeps to the limit or was not checked.
func (o Outcome) OK() bool { return !o.Checked || o.Value <= o.Limit }

// OK tells whether the gate passes.
func (o Outcomes) OK() bool {
	return !slices.ContainsFunc(o, func(o Outcome) bool { return !o.OK() })
}

func (o Outcome) verdict() string {
	switch {
	case !o.Checked:
		return "not checked"
	case o.OK():
		return "pass"
	}
	return "FAIL"
}

// format prints a value or limit of the outcome.
func (o Outcome) format(v float64) string {
	switch {
	case o.Plain:
		return fmt.Sprintf("%.3g", v)
	case o.Unit.Class == Counter:
		return formatExact(v)
	}
	return formatScaled(v, o.Unit.Name)
}

// measured prints the value with its unit.
func (o Outcome) measured() string {
	if o.Plain {
		return o.format(o.Value)
	}
	return o.format(o.Value) + " " + o.Unit.Name
}

// WriteTable prints the outcomes for people, then the result.
func (o Outcomes) WriteTable(w io.Writer) error {
	table := [][]string{{"rule", "benchmark", "unit", "value", "limit", "verdict"}}
	failed, unchecked := 0, 0
	for _, one := range o {
		at := fmt.Sprintf("%s:%d", one.File, one.Line)
		table = append(table, []string{at, one.Names, one.Unit.Name, one.format(one.Value), one.format(one.Limit), one.verdict()})
		switch {
		case !one.Checked:
			unchecked++
		case !one.OK():
			failed++
		}
	}
	if err := writeAligned(w, table, 3, 4); err != nil {
		return err
	}
	lines := []string{""}
	for _, one := range o {
		if !one.OK() {
			lines = append(lines, fmt.Sprintf("FAIL %s:%d: %s: %s is %s", one.File, one.Line, one.Rule, one.Names, one.measured()))
		}
	}
	if unchecked > 0 {
		lines = append(lines, fmt.Sprintf("note %s not checked, of times: they hold on one known machine, with --times", plural(unchecked, "ceiling")))
	}
	result := "PASS: " + plural(len(o)-unchecked, "check")
	if failed > 0 {
		result = fmt.Sprintf("FAIL: %d of %s", failed, plural(len(o)-unchecked, "check"))
	}
	return writeLines(w, append(lines, result))
}

// WriteJSON prints the outcomes for programs:
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
