package serve

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/inspect"
)

// warner logs what is valid and has no effect, each warning once (SPEC 11.1). It
// examines publications in the background: this takes longer than to publish them.
type warner struct {
	log    *slog.Logger
	tls    bool            // clients are identified
	count  atomic.Int64    // of the last publication that was examined
	logged map[string]bool // what the publication before had
}

func newWarner(log *slog.Logger, tls bool) *warner { return &warner{log: log, tls: tls} }

// maxLogged is how many new warnings are logged at a time.
const maxLogged = 100

// run examines publications until the context ends. Of the publications that come
// meanwhile only the newest is examined. A publication is examined again when a dataplane
// connects that is gRPC, which has other warnings. After each examination there is a pause
// of the same length, so that warnings take at most half of one processor.
func (w *warner) run(ctx context.Context, p *publisher) {
	for {
		current := p.current.Load()
		begin := time.Now()
		warnings := w.warningsOf(ctx, current)
		if ctx.Err() != nil {
			return
		}
		w.logNew(warnings)
		select {
		case <-time.After(time.Since(begin)):
		case <-ctx.Done():
			return
		}
		select {
		case <-current.superseded:
		case <-current.grpc.connected:
		case <-ctx.Done():
			return
		}
	}
}

// logNew logs the warnings that the publication before did not have.
func (w *warner) logNew(warnings []string) {
	logged, shown := make(map[string]bool, len(warnings)), 0
	for _, warning := range warnings {
		if !w.logged[warning] && !logged[warning] {
			if shown++; shown <= maxLogged {
				w.log.Warn(warning)
			}
		}
		logged[warning] = true
	}
	if shown > maxLogged {
		w.log.Warn(fmt.Sprintf("there are %d more warnings; a check of the same resources lists all", shown-maxLogged))
	}
	w.logged = logged
	w.count.Store(int64(len(logged)))
}

// warningsOf returns the warnings of `check`, the warnings of the snapshots, and with TLS
// one for each mesh with dataplanes that are served to no client.
func (w *warner) warningsOf(ctx context.Context, p *publication) []string {
	if p.set == nil {
		return nil
	}
	found := inspect.NewCheck(p.view(), p.set).Warnings
	if ctx.Err() != nil {
		return nil
	}
	unserved, err := p.state.Check(ctx, p.grpc.of(p.view())...)
	if err != nil { // the context has ended
		return nil
	}
	for _, warning := range unserved {
		d := warning.Diagnostic()
		if warning.Error && warning.Weakens {
			d.Hint = "the dataplane keeps the last configuration without it"
		}
		found = append(found, d)
	}
	if w.tls {
		found = append(found, inspect.Unidentified(p.view())...)
	}
	var warnings []string
	for _, d := range diag.WithoutIgnored(found, p.set.Ignores, p.set.Positions(), func(code diag.Code) bool { return code.Definition().TLS && !w.tls }) {
		warnings = append(warnings, d.Error())
	}
	return warnings
}
