package loglimit

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The limits.
const (
	Window      = 10 * time.Second
	LinesOfPeer = 10
	Lines       = 100
)

// maxMessages limits the messages that are told apart in a window. Further ones share the
// limits of one message: most messages are constants of the program.
const maxMessages = 100

// New returns a logger that writes to another one within the limits. The counter, which may
// not be nil, counts the lines that are left out.
func New(log *slog.Logger, suppressed *atomic.Int64) *slog.Logger {
	return slog.New(handler{log.Handler(), &window{suppressed: suppressed, out: log.Handler()}})
}

// handler implements slog.Handler. The handlers of one logger share a window.
type handler struct {
	slog.Handler
	window *window
}

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if !h.window.admit(&r) {
		return nil
	}
	return h.Handler.Handle(ctx, r)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs), h.window}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.Handler.WithGroup(name), h.window}
}

// A window counts lines.
type window struct {
	out        slog.Handler
	suppressed *atomic.Int64

	mu    sync.Mutex
	until time.Time
	lines map[string]*lines // by message
}

// lines counts the lines of one message in a window.
type lines struct {
	level    slog.Level
	admitted int
	left     int            // left out
	peers    map[string]int // admitted, by peer
}

// admit reports whether a line is within the limits.
func (w *window) admit(r *slog.Record) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	if !now.Before(w.until) {
		w.flush()
		w.until = now.Add(Window)
	}
	message := r.Message
	if w.lines[message] == nil && len(w.lines) >= maxMessages {
		message = "others"
	}
	of := w.lines[message]
	if of == nil {
		of = &lines{peers: map[string]int{}}
		w.lines[message] = of
	}
	of.level = max(of.level, r.Level)
	peer := peerOf(r)
	if of.admitted < Lines && of.peers[peer] < LinesOfPeer {
		of.admitted++
		of.peers[peer]++
		return true
	}
	if w.suppressed.Add(1); of.left == 0 {
		time.AfterFunc(w.until.Sub(now), w.end)
	}
	of.left++
	return false
}

// end ends the window, if a line has not.
func (w *window) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); !now.Before(w.until) {
		w.flush()
	}
}

// flush logs what was left out, and forgets all lines. It is called with the lock.
func (w *window) flush() {
	for _, message := range slices.Sorted(maps.Keys(w.lines)) {
		of := w.lines[message]
		if of.left == 0 || !w.out.Enabled(context.Background(), of.level) {
			continue
		}
		r := slog.NewRecord(time.Now(), of.level, fmt.Sprintf("%s: %d more lines in %v are left out", message, of.left, Window), 0)
		_ = w.out.Handle(context.Background(), r) // as slog ignores it
	}
	w.lines = map[string]*lines{}
}

// peerOf returns the host of the attribute "peer", or "".
func peerOf(r *slog.Record) (peer string) {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key != "peer" {
			return true
		}
		peer = a.Value.String()
		if host, _, err := net.SplitHostPort(peer); err == nil {
			peer = host
		}
		return false
	})
	return peer
}
