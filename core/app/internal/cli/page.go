package cli

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/meshmatch/meshmatch/core/diag"
)

// page lays out headings and aligned tables for a person. Colour is used only
// on a terminal that has it.
type page struct {
	w      *bufio.Writer
	colour bool
	width  int  // of a line, unless a word is longer
	rowed  bool // a row is one line: the output is for a program
	wide   bool // the format is wide: KRIs and file:line, and no line is wrapped
	rows   [][]string
	indent string
	begun  bool // something is printed
}

// pageWidth is the least width of a terminal, and the width of a page that is no file.
const pageWidth = 80

// newPage returns a page for a terminal, or for a pipe or file, whose lines are not wrapped.
// The variable COLUMNS is the width of either.
func newPage(w io.Writer) *page {
	p := &page{w: bufio.NewWriter(w), width: pageWidth}
	file, isFile := w.(*os.File)
	terminal := isFile && term.IsTerminal(int(file.Fd()))
	p.colour = terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	if columns, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && columns > 0 {
		p.width = columns
	} else if terminal {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil {
			p.width = max(width, pageWidth)
		}
	} else if isFile {
		p.width, p.rowed = math.MaxInt, true
	}
	return p
}

const (
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	reset = "\x1b[0m"
)

func (p *page) paint(style, text string) string {
	if !p.colour || style == "" {
		return text
	}
	return style + text + reset
}

// heading ends the table above it and writes a line, indented by level.
func (p *page) heading(level int, format string, args ...any) {
	p.endTable()
	if level == 0 && p.begun {
		fmt.Fprintln(p.w)
	}
	p.begun = true
	p.indent = strings.Repeat("  ", level)
	for i, line := range p.wrap(diag.OneLine(fmt.Sprintf(format, args...)), len(p.indent)+4) {
		if i > 0 {
			fmt.Fprint(p.w, "    ")
		}
		fmt.Fprintln(p.w, p.indent+p.paint(bold, line))
	}
	p.indent += "  "
}

// line ends the table above it and writes a line, which is not wrapped.
func (p *page) line(format string, args ...any) {
	p.endTable()
	fmt.Fprintf(p.w, "%s%s\n", p.indent, diag.OneLine(fmt.Sprintf(format, args...)))
}

// row adds a row to the current table; the last column is printed faint.
func (p *page) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = diag.OneLine(cell)
	}
	p.rows = append(p.rows, cells)
}

// field adds a row with a value, if there is one.
func (p *page) field(title, value string) {
	if value != "" {
		p.row(title, value)
	}
}

// pick returns what a page shows if it is wide, or else the narrow form of it.
func pick[T any](p *page, narrow, wide T) T {
	if p.wide {
		return wide
	}
	return narrow
}

// The width up to which a column grows to fit its cells. After a wider cell the row
// continues on the next line.
const (
	widestCell     = 34
	widestWideCell = 60
)

const gap = 2 // between columns

func (p *page) endTable() {
	starts := p.columns()
	for _, row := range p.rows {
		p.printRow(row, starts)
		p.begun = true
	}
	p.rows = p.rows[:0]
}

func (p *page) printRow(row []string, starts []int) {
	spaces := func(n int) string { return strings.Repeat(" ", n) }
	fmt.Fprint(p.w, p.indent)
	at := 0 // the next column of the line, after the indent
	for i, cell := range row {
		if cell == "" {
			continue
		}
		start := starts[i]
		switch overlaps := i > 0 && at+gap > start; {
		case overlaps && p.rowed:
			start = at + gap
		case overlaps:
			fmt.Fprint(p.w, "\n"+p.indent)
			at = 0
		}
		style := ""
		if i > 0 && i == len(row)-1 {
			style = faint
		}
		for n, line := range p.wrap(cell, len(p.indent)+start) {
			if n > 0 {
				fmt.Fprint(p.w, "\n"+p.indent)
				at = 0
			}
			fmt.Fprint(p.w, spaces(start-at)+p.paint(style, line))
			at = start + utf8.RuneCountInString(line)
		}
	}
	fmt.Fprintln(p.w)
}

// columns returns where the columns of the current table begin.
func (p *page) columns() []int {
	widest := pick(p, widestCell, widestWideCell)
	var widths []int
	for _, row := range p.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := utf8.RuneCountInString(cell); n <= widest {
				widths[i] = max(widths[i], n)
			}
		}
	}
	starts := make([]int, len(widths))
	for i := 1; i < len(widths); i++ {
		starts[i] = starts[i-1] + widths[i-1] + gap
	}
	return starts
}

// wrap divides a text that begins at a column into lines at its spaces. A word
// that is too long has a line of its own.
func (p *page) wrap(text string, column int) []string {
	if p.wide || p.width-column >= utf8.RuneCountInString(text) {
		return []string{text}
	}
	var lines []string
	line := ""
	for _, word := range strings.Split(text, " ") {
		switch {
		case line == "":
			line = word
		case column+utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= p.width:
			line += " " + word
		default:
			lines, line = append(lines, line), word
		}
	}
	return append(lines, line)
}

// name returns namespace/name, or the KRI, if there is one, if the page is wide.
func (p *page) name(namespace, name, kri string) string {
	switch {
	case p.wide && kri != "":
		return kri
	case namespace != "":
		return namespace + "/" + name
	}
	return name
}

// reason names an item: by its policy's name, or by KRI and file:line if the
// page is wide.
func (p *page) reason(kri, item, source string) string {
	if !p.wide {
		return item
	}
	_, field, _ := strings.Cut(item, " ")
	return strings.TrimSpace(kri + " " + field + "  " + source)
}

func (p *page) flush() error {
	p.endTable()
	return p.w.Flush()
}
