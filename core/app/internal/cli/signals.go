package cli

import (
	"context"
	"os/signal"
	"syscall"
)

// untilSignal returns a context that SIGTERM or an interrupt ends. A second signal ends the
// command at once.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
