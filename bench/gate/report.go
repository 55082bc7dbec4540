package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// WriteTable prints the comparison for people: a table per package, then a
// line for everything that needs a word, then the result.
func (c *Comparison) WriteTable(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "base %s, head %s, %d rounds\n", c.Base, c.Head, c.Rounds); err != nil {
		return err
	}
	for _, pkg := range c.packages() {
		lines := []string{""}
		if pkg != "" {
			lines = append(lines, "pkg: "+pkg)
		}
		if err := writeLines(w, lines); err != nil {
			return err
		}
		table := [][]string{{"benchmark", "unit", "base", "head", "ratio", "p", "verdict"}}
		for _, row := range c.Rows {
			if row.Benchmark.Package == pkg {
				table = append(table, row.cells())
			}
		}
		if err := writeAligned(w, table, 2, 3, 4, 5); err != nil {
			return err
		}
	}
	return c.writeNotes(w)
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

func (r Row) cells() []string {
	base, head := r.formatPair()
	p := "-"
	if r.P != nil {
		p = fmt.Sprintf("%.3f", *r.P)
	}
	return []string{r.Benchmark.Name, r.Unit.Name, base, head, r.ratioText(), p, string(r.Verdict)}
}

func (c *Comparison) writeNotes(w io.Writer) error {
	lines := []string{""}
	failed := 0
	for _, row := range c.Rows {
		text := fmt.Sprintf("%s %s: %s", c.name(row.Benchmark), row.Unit.Name, row.Reason)
		switch {
		case row.Verdict.Fails():
			failed++
			lines = append(lines, "FAIL "+text)
		case row.Verdict == Cleared, row.Verdict == Same && row.Reason != "":
			lines = append(lines, "note "+text)
		}
	}
	for _, warning := range c.Warnings() {
		lines = append(lines, "warning "+warning)
	}
	if failed > 0 {
		lines = append(lines, fmt.Sprintf("FAIL: %d of %s worse", failed, plural(len(c.Rows), "measurement")))
	} else {
		lines = append(lines, fmt.Sprintf("PASS: %s, none worse", plural(len(c.Rows), "measurement")))
	}
	return writeLines(w, lines)
}

func writeLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// WriteJSON prints the comparison for programs:
//
//	{"pass": bool, "base": "...", "head": "...", "rounds": n, "rows": [
//	  {"package", "benchmark", "unit", "base", "head", "ratio", "p", "verdict", "reason"}
//	], "warnings": ["..."]}
//
// Numbers are in the tidied unit (sec/op, B/op). What a row does not have (the
// base of a new benchmark, the p of an exact comparison) is left out.
func (c *Comparison) WriteJSON(w io.Writer) error {
	type row struct {
		Package   string   `json:"package,omitempty"`
		Benchmark string   `json:"benchmark"`
		Unit      string   `json:"unit"`
		Base      *float64 `json:"base,omitempty"`
		Head      *float64 `json:"head,omitempty"`
		Ratio     *float64 `json:"ratio,omitempty"`
		P         *float64 `json:"p,omitempty"`
		Verdict   Verdict  `json:"verdict"`
		Reason    string   `json:"reason,omitempty"`
	}
	rows := []row{}
	for _, r := range c.Rows {
		out := row{Package: r.Benchmark.Package, Benchmark: r.Benchmark.Name, Unit: r.Unit.Name,
			Base: r.Base, Head: r.Head, P: r.P, Verdict: r.Verdict, Reason: r.Reason}
		if ratio, ok := r.Ratio(); ok {
			out.Ratio = &ratio
		}
		rows = append(rows, out)
	}
	return writeJSON(w, struct {
		Pass     bool     `json:"pass"`
		Base     string   `json:"base"`
		Head     string   `json:"head"`
		Rounds   int      `json:"rounds"`
		Rows     []row    `json:"rows"`
		Warnings []string `json:"warnings"`
	}{c.OK(), c.Base, c.Head, c.Rounds, rows, append([]string{}, c.Warnings()...)})
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
