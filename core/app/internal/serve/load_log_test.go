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
