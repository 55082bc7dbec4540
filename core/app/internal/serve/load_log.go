package serve

import (
	"github.com/meshmatch/meshmatch/core/diag"
)

// The limits of what one load logs. Whoever may write one file or object may write one with
// any number of errors.
const (
	maxLoadLines = 300     // of one cause
	maxLoadBytes = 5 << 20 // of all
)

// loadLog logs the lines of one load, within the limits.
type loadLog struct {
	log   func(string)
	lines map[diag.Code]int
	bytes int
	left  int // lines that are not logged
}

func newLoadLog(log func(string)) *loadLog { return &loadLog{log: log, lines: map[diag.Code]int{}} }

// line logs a line of a cause; 0 is a cause too.
func (l *loadLog) line(cause diag.Code, text string) {
	if l.lines[cause] >= maxLoadLines || l.bytes+len(text) > maxLoadBytes {
		l.left++
		return
	}
	l.lines[cause]++
	l.bytes += len(text)
	l.log(text)
}

// end logs how many lines were left out.
func (l *loadLog) end() {
	if l.left > 0 {
		l.log("the load has " + diag.Count(l.left, "more line") + " like these, which are not logged; check has all of them")
	}
}
