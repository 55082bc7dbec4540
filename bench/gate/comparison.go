package gate

import (
	"fmt"
	"slices"
)

// A Comparison is the outcome of the gate.
type Comparison struct {
	Base, Head string // what was compared
	Rounds     int
	Rows       []Row
}

// OK tells whether the gate passes.
func (c *Comparison) OK() bool {
	return !slices.ContainsFunc(c.Rows, func(r Row) bool { return r.Verdict.Fails() })
}

// name names a benchmark in a line of its own.
func (c *Comparison) name(b Benchmark) string {
	if len(c.packages()) > 1 {
		return b.Package + "." + b.Name
	}
	return b.Name
}

// Warnings returns what does not fail the gate but should be seen.
func (c *Comparison) Warnings() []string {
	var warnings []string
	judged := false
	for _, row := range c.Rows {
		switch row.Verdict {
		case Missing:
			text := fmt.Sprintf("%s %s: %s", c.name(row.Benchmark), row.Unit.Name, row.Reason)
			if row.Reason == lost {
				text = fmt.Sprintf("%s: %s", c.name(row.Benchmark), row.Reason)
			}
			if !slices.Contains(warnings, text) {
				warnings = append(warnings, text)
			}
		case New, Ungated:
		default:
			judged = true
		}
	}
	if !judged {
		warnings = append(warnings, "nothing was compared: base and head have no benchmark in common")
	}
	return warnings
}
