package serve

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/serve/pages"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
)

// Stale describes since when, and why, the current files are not served.
type Stale struct {
	Since time.Time `json:"since"`
	Why   string    `json:"why"`
}

// loads is the outcome of the loads so far. It is safe for concurrent use.
type loads struct {
	held atomic.Int64 // removals that are held

	mu    sync.Mutex
	state loadState // its contents are not changed
}

// loadState is the outcome of the loads at one moment.
type loadState struct {
	errors []string  // of the last load
	slow   *Stale    // nil: no load takes long
	stale  *Stale    // nil: the files are served
	last   time.Time // of the last good load
}

func (l *loads) current() loadState {
	l.mu.Lock()
	defer l.mu.Unlock()
	state := l.state
	if state.errors == nil {
		state.errors = []string{} // in JSON
	}
	return state
}

// shown returns the outcome of the loads for pages, without stores.
func (l *loads) shown() pages.Load {
	state := l.current()
	shown := pages.Load{Last: state.last, Errors: state.errors, Held: l.held.Load()}
	if state.stale != nil {
		shown.StaleSince, shown.StaleWhy = state.stale.Since, state.stale.Why
	}
	return shown
}

// succeed records a good load.
func (l *loads) succeed(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = loadState{last: at.UTC(), slow: l.state.slow}
}

// fail records a load with errors. If the state is stale already, its time and reason are
// kept.
func (l *loads) fail(err error, since time.Time, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.errors = shortened(errorsOf(err))
	if l.state.stale == nil {
		l.state.stale = &Stale{since.UTC(), why}
	}
}

// slow records what takes long; nil: nothing.
func (l *loads) slow(work *Stale) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state.slow = work
}

// resume records a start with the input of an earlier load.
func (l *loads) resume(err error, kept time.Time, why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.state = loadState{errors: shortened(errorsOf(err)), stale: &Stale{kept.UTC(), why}, last: kept.UTC()}
}

// errorsOf returns the errors of a load as lines.
func errorsOf(err error) []string {
	var diagnostics diag.Errors
	if !errors.As(err, &diagnostics) {
		return []string{diag.OneLine(err.Error())}
	}
	return lists.Map(diagnostics, func(d diag.Diagnostic) string { return diag.OneLine(d.Line()) })
}

// maxStatusErrors limits the errors of /status.
const maxStatusErrors = 100

// shortened limits the lines to maxStatusErrors. If there are more, it appends a line with
// their number.
func shortened(lines []string) []string {
	if more := len(lines) - maxStatusErrors; more > 0 {
		lines = append(lines[:maxStatusErrors:maxStatusErrors], fmt.Sprintf("there are %d more errors; the log has them", more))
	}
	return lines
}
