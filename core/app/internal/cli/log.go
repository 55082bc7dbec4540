package cli

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/meshmatch/meshmatch/core/diag"
)

// lineLog writes one line for each event, for people: the time, the level unless it is
// info, the message, and attributes as key=value.
type lineLog struct {
	out        *lockedWriter
	attributes string
}

type lockedWriter struct {
	mu sync.Mutex
	io.Writer
}

// logFormats are the values of --log-format.
var logFormats = []string{"text", "json"}

// newLog returns the log of a format: text is for people, and json has the keys time,
// level and msg, and one for each attribute.
func newLog(format string, w io.Writer) slog.Handler {
	if format == "json" {
		return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: slog.LevelInfo})
	}
	return &lineLog{out: &lockedWriter{Writer: w}}
}

// Enabled implements [slog.Handler].
func (*lineLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle implements [slog.Handler].
func (l *lineLog) Handle(_ context.Context, r slog.Record) error {
	var b strings.Builder
	b.WriteString(r.Time.UTC().Format(time.RFC3339) + " ")
	switch {
	case r.Level >= slog.LevelError:
		b.WriteString("error: ")
	case r.Level >= slog.LevelWarn:
		b.WriteString("warning: ")
	}
	b.WriteString(r.Message + l.attributes)
	r.Attrs(func(a slog.Attr) bool {
		b.WriteString(attribute(a))
		return true
	})
	l.out.mu.Lock()
	defer l.out.mu.Unlock()
	_, err := fmt.Fprintln(l.out, diag.OneLine(b.String()))
	return err
}

func attribute(a slog.Attr) string { return fmt.Sprintf(" %s=%q", a.Key, a.Value.String()) }

// WithAttrs implements [slog.Handler].
func (l *lineLog) WithAttrs(attributes []slog.Attr) slog.Handler {
	with := *l
	for _, a := range attributes {
		with.attributes += attribute(a)
	}
	return &with
}

// WithGroup implements [slog.Handler]. Groups are not shown.
func (l *lineLog) WithGroup(string) slog.Handler { return l }
