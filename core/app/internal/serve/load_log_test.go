package serve

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

// One load logs at most 300 lines of a cause, and 5 MiB.
func TestLogOfOneLoadIsLimited(t *testing.T) {
	var lines, bytes int
	log := newLoadLog(func(text string) { lines++; bytes += len(text) })
	for range 200_000 {
		log.line(diag.BadValue, strings.Repeat("x", 400))
	}
	log.line(diag.MissingField, "another cause")
	log.end()
	if lines != maxLoadLines+2 || bytes > maxLoadBytes {
		t.Errorf("%d lines of %d bytes", lines, bytes)
	}
	for code := range diag.Code(100) {
		log.line(1000+code, strings.Repeat("x", 1<<20))
	}
	if bytes > maxLoadBytes+1<<10 {
		t.Errorf("%d bytes", bytes)
	}
}

// The error of a first load has the same limits, and says what it leaves out.
func TestErrorOfFirstLoadIsLimited(t *testing.T) {
	var all diag.Errors
	for range 200_000 {
		all = append(all, diag.Diagnostic{Code: diag.BadValue, What: strings.Repeat("x", 400)})
	}
	text := withinLimits(all).Error()
	if n := strings.Count(text, "\n"); n != maxLoadLines || !strings.Contains(text, "199700 more lines") {
		t.Errorf("%d lines of %d bytes", n, len(text))
	}
	if few := error(all[:maxLoadLines]); withinLimits(few).Error() != few.Error() {
		t.Error("a few errors are not given as they are")
	}
}
