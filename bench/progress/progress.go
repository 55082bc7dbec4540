package progress

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// A Line is a line of a terminal that each step overwrites. A nil Line shows nothing.
type Line struct{ w io.Writer }

// New returns a line on w, to which it writes control sequences of a terminal.
func New(w io.Writer) *Line { return &Line{w} }

// On returns a line on w if w is a terminal, otherwise nil.
func On(w io.Writer) *Line {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return New(f)
	}
	return nil
}

// eraseLine moves to the line's start and erases what follows it (ECMA-48).
const eraseLine = "\r\x1b[K"

// Step replaces the line.
func (l *Line) Step(format string, args ...any) {
	if l != nil {
		fmt.Fprintf(l.w, eraseLine+format, args...)
	}
}

// Done erases the line.
func (l *Line) Done() { l.Step("") }
