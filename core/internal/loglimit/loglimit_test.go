package loglimit_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/loglimit"
)

// text is what was logged. Windows end in goroutines of their own.
type text struct {
	mu sync.Mutex
	strings.Builder
}

func (t *text) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.Builder.Write(b)
}

// limited returns a logger, and a function that returns its lines since the last call.
func limited(suppressed *atomic.Int64) (*slog.Logger, func() []string) {
	var logged text
	log := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	return loglimit.New(log, suppressed), func() []string {
		synctest.Wait()
		logged.mu.Lock()
		defer logged.mu.Unlock()
		defer logged.Reset()
		return strings.Split(strings.TrimSuffix(logged.String(), "\n"), "\n")
	}
}

// A peer causes many lines. A few are logged, and the lines of other peers and other messages
// are not affected. After the window, one line has the number of those that were left out.
func TestFloodOfOnePeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var suppressed atomic.Int64
		log, lines := limited(&suppressed)
		for i := range 1000 {
			log.Warn("a stream ends", "node", i, "peer", fmt.Sprint("10.0.0.1:", i))
		}
		log.Warn("a stream ends", "peer", "10.0.0.2:1")
		log.Warn("a node waits", "peer", "10.0.0.1:1")
		got := lines()
		if len(got) != loglimit.LinesOfPeer+2 || !strings.Contains(got[9], "node=9") || !strings.Contains(got[10], "10.0.0.2") || !strings.Contains(got[11], "waits") {
			t.Errorf("the lines are %q", got)
		}
		time.Sleep(loglimit.Window)
		if got := lines(); len(got) != 1 || got[0] != `level=WARN msg="a stream ends: 990 more lines in 10s are left out"` {
			t.Errorf("after the window, the lines are %q", got)
		}
		if n := suppressed.Load(); n != 990 {
			t.Errorf("%d lines are counted", n)
		}
		log.Warn("a stream ends", "peer", "10.0.0.1:1")
		time.Sleep(time.Hour)
		if got := lines(); len(got) != 1 || !strings.Contains(got[0], "10.0.0.1:1") {
			t.Errorf("in the next window, the lines are %q", got)
		}
	})
}

// Many peers cause lines, or there are many messages.
func TestFloodOfMany(t *testing.T) {
	for name, line := range map[string]func(*slog.Logger, int){
		"peers": func(log *slog.Logger, i int) {
			log.Info("a stream ends", "peer", fmt.Sprintf("10.0.%d.%d:1", i/100, i%100))
		},
		"messages": func(log *slog.Logger, i int) { log.Info(fmt.Sprint("message ", i)) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, lines := limited(new(atomic.Int64))
				for i := range 10_000 {
					line(log.With("server", "a"), i)
				}
				if got := len(lines()); got < loglimit.Lines || got > 2*loglimit.Lines {
					t.Errorf("there are %d lines", got)
				}
				time.Sleep(loglimit.Window)
				if got := lines(); len(got) != 1 || !strings.Contains(got[0], " more lines ") {
					t.Errorf("after the window, the lines are %q", got)
				}
			})
		})
	}
}

// While lines are left out all the time, each window has its own lines and its own number.
func TestEndlessFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, lines := limited(new(atomic.Int64))
		for range 600 { // a minute
			log.Warn("a stream ends", "peer", "10.0.0.1:1")
			time.Sleep(100 * time.Millisecond)
		}
		sum := 0
		for _, line := range lines() {
			if strings.HasSuffix(line, `ends: 90 more lines in 10s are left out"`) {
				sum++
			}
		}
		if sum != 6 {
			t.Errorf("%d windows are reported", sum)
		}
	})
}
