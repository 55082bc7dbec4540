package serve

import (
	"strings"
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Long lines of many causes are limited together.
func TestBytesOfOneLoadAreLimited(t *testing.T) {
	bytes := 0
	log := newLoadLog(func(text string) { bytes += len(text) })
	for cause := range diag.Code(2000) {
		log.line(cause, strings.Repeat("x", 10_000))
	}
	if log.end(); bytes > maxLoadBytes+1000 || maxLoadBytes != 5<<20 {
		t.Errorf("%d bytes are in the log", bytes)
	}
}
