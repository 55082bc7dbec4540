package kubernetes

import (
	"testing"
	"time"
)

// SetPageTimeout sets the limit of pages of metadata for a test.
func SetPageTimeout(t *testing.T, limit time.Duration) {
	before := pageTimeout
	pageTimeout = limit
	t.Cleanup(func() { pageTimeout = before })
}
