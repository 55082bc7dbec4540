package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

var comparisonHeader = []string{"benchmark", "unit", "base", "head", "ratio", "p", "verdict"}

func (r Row) cells() []string {
	base, head := r.formatPair()
	p := "-"
	if r.P != nil {
		p = fmt.Sprintf("%.3f", *r.P)
	}
	return []string{r.Benchmark.Name, r.Unit.Name, base, head, r.ratioText(), p, string(r.Verdict)}
}

// WriteTable prints the comparison as text: a table per package, then a line
// for each row that needs an explanation, then the result.
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
		table := [][]string{comparisonHeader}
		for _, row := range c.Rows {
			if row.Benchmark.Package == pkg {
				table = append(table, row.cells())
			}
		}
		if err := writeAligned(w, table, 2, 3, 4, 5); err != nil {
			return err
		}
	}
	return writeLines(w, slices.Concat([]string{""}, c.notes(), []string{c.summary()}))
}

// WriteMarkdown prints the comparison for a comment in a pull request: the
// result, the rows that are not the same, and all rows folded away.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	var changed, all [][]string
	among := c.benchmarks()
	for _, row := range c.Rows {
		cells := row.cells()
		cells[0] = row.Benchmark.name(among)
		all = append(all, cells)
		if row.Verdict != Same && row.Verdict != Ungated {
			changed = append(changed, cells)
		}
	}
	lines := []string{"**Benchmarks " + c.summary() + "**", ""}
	if len(changed) > 0 {
		lines = append(lines, markdownTable(comparisonHeader, changed, 2, 3, 4, 5)...)
	}
	for _, note := range c.notes() {
		lines = append(lines, "- "+note)
	}
	lines = append(lines, "", fmt.Sprintf("<details><summary>%s: base %s, head %s, %d rounds</summary>", plural(len(all), "measurement"), c.Base, c.Head, c.Rounds), "")
	lines = append(lines, markdownTable(comparisonHeader, all, 2, 3, 4, 5)...)
	return writeLines(w, append(lines, "</details>"))
}

// WriteJSON prints the comparison as JSON:
//
//	{"result": "pass"|"inconclusive"|"fail", "base": "...", "head": "...", "rounds": n, "rows": [
//	  {"package", "benchmark", "formerly", "unit", "base", "head", "ratio", "p", "verdict", "reason"}
//	], "notes": ["..."]}
//
// Numbers are in the tidied unit (sec/op, B/op). An absent value (the base of a
// new benchmark, the p of an exact comparison) is omitted.
func (c *Comparison) WriteJSON(w io.Writer) error {
	type row struct {
		Package   string   `json:"package,omitempty"`
		Benchmark string   `json:"benchmark"`
		Formerly  string   `json:"formerly,omitempty"`
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
		if r.Former != (benchmarkID{}) {
			out.Formerly = r.Former.Package + "." + r.Former.Name
		}
		rows = append(rows, out)
	}
	return writeJSON(w, struct {
		Result string   `json:"result"`
		Base   string   `json:"base"`
		Head   string   `json:"head"`
		Rounds int      `json:"rounds"`
		Rows   []row    `json:"rows"`
		Notes  []string `json:"notes"`
	}{c.Result(), c.Base, c.Head, c.Rounds, rows, append([]string{}, c.notes()...)})
}

func writeJSON(w io.Writer, v any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}
