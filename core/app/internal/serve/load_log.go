package serve

import (
	"errors"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// The limits of what one load logs. The author of one file or object may cause any number
// of errors.
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
	if l.admit(cause, len(text)) {
		l.log(text)
	}
}

func (l *loadLog) admit(cause diag.Code, bytes int) bool {
	if l.lines[cause] >= maxLoadLines || l.bytes+bytes > maxLoadBytes {
		l.left++
		return false
	}
	l.lines[cause]++
	l.bytes += bytes
	return true
}

// end logs how many lines were left out.
func (l *loadLog) end() {
	if l.left > 0 {
		l.log(l.rest())
	}
}

func (l *loadLog) rest() string {
	return "the load has " + diag.Count(l.left, "more line") + " like these, which are not logged; check has all of them"
}

// withinLimits returns the error of a first load, which the program prints before it ends,
// with the lines that one load may log: a service that starts again and again fills no disk.
func withinLimits(err error) error {
	var all, kept diag.Errors
	if !errors.As(err, &all) {
		return err
	}
	log := newLoadLog(nil)
	kept = lists.Filter(all, func(d diag.Diagnostic) bool { return log.admit(d.Code, len(d.Line())) })
	if log.left == 0 {
		return err
	}
	return errors.Join(kept, errors.New(log.rest()))
}
