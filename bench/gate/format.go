package gate

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/perf/benchunit"
)

// formatExact prints all digits, because counters may differ in the last digit.
func formatExact(v float64) string { return benchunit.NoOpScaler.Format(v) }

// formatScaled prints v with an SI or binary prefix, 12.30µ for 1.23e-5.
func formatScaled(v float64, unit string) string {
	if v == 0 {
		return "0"
	}
	return benchunit.Scale(v, benchunit.ClassOf(unit))
}

// formatPair prints both values of a row in one scale, and "-" for a value that
// does not exist.
func (r Row) formatPair() (base, head string) {
	var values []float64
	for _, v := range []*float64{r.Base, r.Head} {
		if v != nil {
			values = append(values, *v)
		}
	}
	scale := benchunit.NoOpScaler
	if r.Unit.Class != Counter {
		scale = benchunit.CommonScale(values, benchunit.ClassOf(r.Unit.Name))
	}
	format := func(v *float64) string {
		if v == nil {
			return "-"
		}
		if *v == 0 {
			return "0"
		}
		return scale.Format(*v)
	}
	return format(r.Base), format(r.Head)
}

func (r Row) ratioText() string {
	if ratio, ok := r.Ratio(); ok {
		return fmt.Sprintf("%.3f", ratio)
	}
	return "-"
}

// writeAligned prints rows of cells in columns two spaces apart. The columns
// in right are aligned to the right; no line ends in a space.
func writeAligned(w io.Writer, rows [][]string, right ...int) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	toRight := make([]bool, len(widths))
	for _, i := range right {
		toRight[i] = true
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i > 0 {
				line.WriteString("  ")
			}
			if toRight[i] {
				line.WriteString(gap + cell)
			} else {
				line.WriteString(cell + gap)
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// markdownTable returns the lines of a table. The columns in right are aligned
// to the right.
func markdownTable(header []string, rows [][]string, right ...int) []string {
	line := func(cells []string) string {
		return "| " + strings.ReplaceAll(strings.Join(cells, "\x00"), "|", "\\|") + " |"
	}
	rule := make([]string, len(header))
	for i := range rule {
		rule[i] = "---"
		if slices.Contains(right, i) {
			rule[i] = "--:"
		}
	}
	lines := []string{line(header), line(rule)}
	for _, row := range rows {
		lines = append(lines, line(row))
	}
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], "\x00", " | ")
	}
	return append(lines, "")
}

func writeLines(w io.Writer, lines []string) error {
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// plural returns a number with a noun that forms its plural with s.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// joinOr joins words by commas, or returns none if there are no words.
func joinOr(words []string, none string) string {
	if len(words) == 0 {
		return none
	}
	return strings.Join(words, ", ")
}
