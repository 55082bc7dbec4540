package cli

import (
	"bytes"
	"context"
	"regexp"
	"sync"
)

// liveLog is what a running server has logged.
type liveLog struct {
	mu      sync.Mutex
	text    bytes.Buffer
	written chan struct{} // closed by the next write
}

func newLiveLog() *liveLog { return &liveLog{written: make(chan struct{})} }

// Write implements io.Writer.
func (l *liveLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.written)
	l.written = make(chan struct{})
	return l.text.Write(p)
}

// String returns the text until now.
func (l *liveLog) String() string {
	text, _ := l.now()
	return text
}

// now returns the text, and a channel that the next write closes.
func (l *liveLog) now() (text string, written <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String(), l.written
}

// await waits until the log matches a pattern, and returns the match with the
// submatches. It returns nil if the log does not match when the server or the context
// has ended.
func (l *liveLog) await(ctx context.Context, ended <-chan struct{}, pattern *regexp.Regexp) []string {
	for {
		text, written := l.now()
		if found := pattern.FindStringSubmatch(text); found != nil {
			return found
		}
		select {
		case <-written:
		case <-ended:
			return pattern.FindStringSubmatch(l.String())
		case <-ctx.Done():
			return nil
		}
	}
}
