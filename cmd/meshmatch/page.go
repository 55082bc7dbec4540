package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// page lays out what a person reads: headings and aligned tables. Colour is
// used only on a terminal that has it.
type page struct {
	w      *bufio.Writer
	colour bool
	rows   [][]string
	indent string
	begun  bool
}

func newPage(w io.Writer) *page {
	file, ok := w.(*os.File)
	colour := ok && term.IsTerminal(int(file.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return &page{w: bufio.NewWriter(w), colour: colour}
}

const (
	bold  = "\x1b[1m"
	faint = "\x1b[2m"
	reset = "\x1b[0m"
)

func (p *page) paint(style, text string) string {
	if !p.colour || text == "" {
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
	fmt.Fprintf(p.w, "%s%s\n", p.indent, p.paint(bold, printable(fmt.Sprintf(format, args...))))
	p.indent += "  "
}

// line ends the table above it and writes a line as it is.
func (p *page) line(format string, args ...any) {
	p.endTable()
	fmt.Fprintf(p.w, "%s%s\n", p.indent, printable(fmt.Sprintf(format, args...)))
}

// row adds a row to the current table; the last column is printed faint.
func (p *page) row(cells ...string) {
	for i, cell := range cells {
		cells[i] = printable(cell)
	}
	p.rows = append(p.rows, cells)
}

// widest is the widest cell that the others of its column are padded for; a
// longer one, such as a list, pushes its own row alone.
const widest = 40

func (p *page) endTable() {
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
	for _, row := range p.rows {
		var b strings.Builder
		b.WriteString(p.indent)
		for i, cell := range row {
			padding := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell))+2)
			if i == len(row)-1 {
				cell, padding = p.paint(faint, cell), ""
			}
			b.WriteString(cell + padding)
		}
		fmt.Fprintln(p.w, strings.TrimRight(b.String(), " "))
	}
	p.rows = p.rows[:0]
}

// printable writes line ends and what else a terminal would act on as Go does
// in a string.
func printable(text string) string {
	if strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 && utf8.ValidString(text) {
		return text
	}
	quoted := strconv.Quote(text)
	return quoted[1 : len(quoted)-1]
}

func (p *page) flush() error {
	p.endTable()
	return p.w.Flush()
}
