package gate

import (
	"fmt"
	"io"
)

// Progress shows the current step of a long gate on a terminal, in one line that
// is overwritten. A nil Progress shows nothing.
type Progress struct {
	w io.Writer
}

// NewProgress returns a progress line on w, which should be a terminal.
func NewProgress(w io.Writer) *Progress { return &Progress{w} }

// eraseLine moves to the line's start and erases what follows it (ECMA-48).
const eraseLine = "\r\x1b[K"

// step replaces the line.
func (p *Progress) step(format string, args ...any) {
	if p != nil {
		fmt.Fprintf(p.w, eraseLine+format, args...)
	}
}

// done erases the line.
func (p *Progress) done() {
	if p != nil {
		fmt.Fprint(p.w, eraseLine)
	}
}
