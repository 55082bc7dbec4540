package progress

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"
)

// A Line is a line of a terminal that each step overwrites. A nil Line shows nothing.
type Line struct{ w io.Writer }

// On returns a line on w if w is a terminal, otherwise nil.
func On(w io.Writer) *Line {
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &Line{f}
	}
	return nil
}

// eraseLine moves to the start of the line and erases the line (ECMA-48).
const eraseLine = "\r\x1b[K"

// Step replaces the line.
func (l *Line) Step(format string, args ...any) {
	if l != nil {
		fmt.Fprintf(l.w, eraseLine+format, args...)
	}
}

// Done erases the line.
func (l *Line) Done() { l.Step("") }
