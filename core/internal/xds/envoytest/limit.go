package envoytest

import (
	"context"
	"testing"
	"time"
)

// Limit returns a context for what a test waits for outside of a bubble of package
// synctest, such as another process. It ends a little before the deadline of `go test`, so
// that the test reports what it waited for. Without a deadline it ends after 10 minutes,
// the default of `go test`.
func Limit(t testing.TB) context.Context {
	limit := time.Now().Add(10 * time.Minute)
	if t, ok := t.(*testing.T); ok {
		if deadline, ok := t.Deadline(); ok {
			limit = deadline.Add(-5 * time.Second)
		}
	}
	ctx, cancel := context.WithDeadline(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}
