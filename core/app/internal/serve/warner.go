package serve

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// warner logs warnings about what is valid and has no effect, each once (SPEC 11.1). It
// examines publications in the background, because this takes longer than publishing.
type warner struct {
	log    *slog.Logger
	tls    bool            // clients are identified
	count  atomic.Int64    // of the last publication that was examined
	logged map[string]bool // the warnings of the previous publication
}

// maxLogged limits the new warnings that are logged for one publication.
const maxLogged = 100

// run examines publications until the context ends. It skips the publications that arrive
// during an examination, except the newest. It examines a publication again when a new gRPC
// dataplane connects, which has other warnings. A pause of the same length follows each
// examination, so that warnings take at most half of one processor.
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

// logNew logs the warnings that the previous publication did not have.
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

// warningsOf returns the warnings of `check` and of the snapshots. With TLS, it adds a
// warning for each mesh that has dataplanes without an identity.
func (w *warner) warningsOf(ctx context.Context, p *publication) []string {
	if p.set == nil {
		return nil
	}
	found := check.New(p.view(), p.set).Findings()
	if ctx.Err() != nil {
		return nil
	}
	unserved, err := p.state.Check(ctx, p.grpc.nodesOf(p.view())...)
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
		found = append(found, check.Unidentified(p.view())...)
	}
	found = diag.WithoutIgnored(found, p.set.Ignores, p.set.Positions(), func(code diag.Code) bool { return code.Definition().TLS && !w.tls })
	return lists.Map(lists.Filter(found, func(d diag.Diagnostic) bool { return d.Code.Class() != diag.ClassInfo }), diag.Diagnostic.Line)
}
