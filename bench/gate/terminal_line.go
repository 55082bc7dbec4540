package gate

import (
	"fmt"
	"io"
	"os"
)

// A terminalLine is a line of a terminal that each step of a long measurement overwrites. A nil
// terminalLine shows nothing.
type terminalLine struct{ w io.Writer }

// LineOn returns a line on w if w is a terminal, otherwise nil.
func LineOn(w io.Writer) *terminalLine {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return &terminalLine{f}
}

// eraseLine moves to the start of the line and erases the line (ECMA-48).
const eraseLine = "\r\x1b[K"

// Step replaces the line.
func (l *terminalLine) Step(format string, args ...any) {
	if l != nil {
		fmt.Fprintf(l.w, eraseLine+format, args...)
	}
}

// Done erases the line.
func (l *terminalLine) Done() { l.Step("") }
