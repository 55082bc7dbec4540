package serve

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/meshmatch/meshmatch/core/kind/kinds"
	"github.com/meshmatch/meshmatch/core/resource"
)

// dial connects to a listener from an address.
func dial(t *testing.T, l *MemoryListener, from string) net.Conn {
	t.Helper()
	conn, err := l.Dial(t.Context(), from)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// isClosed reports whether the other side of a connection has closed it.
func isClosed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Nanosecond))
	_, err := c.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

// The listener limits connections in total and for each address, regardless of ports. A
// connection that ends frees its place.
func TestFairListenerLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryListener(net.IPv4(127, 0, 0, 1))
		l := newFairListener(memory, 4, 2, time.Hour)
		accepted := map[string]net.Conn{}
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				accepted[c.RemoteAddr().String()] = c
			}
		}()
		steps := []struct {
			from     string // "" to close a connection
			close    string
			admitted bool
		}{
			{from: "10.0.0.1:1", admitted: true},
			{from: "[fd00::1]:1", admitted: true},
			{from: "[fd00::2:1]:1", admitted: true},
			{from: "[fd00::3:1]:1"}, // the third of its network of 64 bits
			{close: "[fd00::2:1]:1"},
			{from: "10.0.0.1:2", admitted: true},
			{from: "10.0.0.1:3"}, // the third of its address
			{from: "10.0.0.2:1", admitted: true},
			{from: "10.0.0.3:1"}, // the fifth of all
			{close: "10.0.0.1:1"},
			{from: "10.0.0.3:1", admitted: true},
			{from: "10.0.0.1:4"}, // all places are taken
			{close: "10.0.0.2:1"},
			{close: "10.0.0.2:1"}, // twice frees one place
			{from: "10.0.0.1:5", admitted: true},
			{from: "10.0.0.4:1"},
		}
		for i, step := range steps {
			if step.from == "" {
				_ = accepted[step.close].Close()
				continue
			}
			conn := dial(t, memory, step.from)
			synctest.Wait()
			if got := accepted[step.from] != nil; got != step.admitted || isClosed(conn) == step.admitted {
				t.Errorf("step %d: %s: admitted: %t, want %t", i, step.from, got, step.admitted)
			}
		}
		for _, c := range accepted {
			_ = c.Close()
		}
		if l.all != 0 || len(l.peers) != 0 {
			t.Errorf("when all have ended, %d places are taken, by %v", l.all, l.peers)
		}
		_ = l.Close()
	})
}

// A connection is closed if its first byte does not come in time. After that byte it stays
// open.
func TestFairListenerFirstByte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := NewMemoryListener(net.IPv4(127, 0, 0, 1))
		l := newFairListener(memory, 2, 2, 5*time.Second)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() { _, _ = io.Copy(io.Discard, c) }()
			}
		}()
		silent, speaking := dial(t, memory, "10.0.0.1:1"), dial(t, memory, "10.0.0.1:2")
		time.Sleep(4 * time.Second)
		if isClosed(silent) {
			t.Error("the silent connection is closed after 4 s")
		}
		if _, err := io.WriteString(speaking, "x"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if !isClosed(silent) {
			t.Error("the silent connection is open after 6 s")
		}
		time.Sleep(time.Hour)
		if isClosed(speaking) {
			t.Error("the other one is closed")
		}
		next := dial(t, memory, "10.0.0.1:3")
		synctest.Wait()
		if isClosed(next) {
			t.Error("the place of the silent one is not free")
		}
		for _, c := range []net.Conn{silent, speaking, next} {
			_ = c.Close()
		}
		_ = l.Close()
	})
}

// A client sends single bytes slowly: in the header, in the body, or between two requests.
// Both HTTP listeners close its connection within the deadlines.
func TestSlowRequests(t *testing.T) {
	const interval = 900 * time.Millisecond
	tests := []struct {
		name, request, then string // request is sent at once, then is sent repeatedly, at intervals
		within              time.Duration
	}{
		{"header", "", "G", headerTimeout + interval},
		{"header line", "GET /readyz HTTP/1.1\r\nx: ", "y", headerTimeout + interval},
		{"header lines", "GET /readyz HTTP/1.1\r\n", "x: y\r\n", headerTimeout + interval},
		{"body", "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n", "x", readTimeout + interval},
		{"second header", "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n", "G", idleTimeout + headerTimeout + interval},
		{"nothing after an answer", "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n", "", idleTimeout + interval},
	}
	for _, test := range tests {
		for _, health := range []bool{false, true} {
			name := test.name
			if health {
				name += " to health"
			}
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancelCause(t.Context())
					memory := NewMemoryListener(net.IPv4(127, 0, 0, 1))
					s, err := New(Options{Logger: slog.New(slog.DiscardHandler), Loader: &resource.Loader{Kinds: kinds.All()}})
					if err != nil {
						t.Fatal(err)
					}
					s.httpListener, s.healthListener = memory, memory
					serve := s.serveHTTP
					if health {
						serve = s.serveHealth
					}
					done := make(chan struct{})
					go func() { defer close(done); serve(ctx, cancel) }()

					conn := dial(t, memory, "10.0.0.1:1")
					begin := time.Now()
					closed := make(chan struct{})
					go func() {
						defer close(closed)
						_, _ = io.Copy(io.Discard, bufio.NewReader(conn))
					}()
					_, _ = io.WriteString(conn, test.request)
					for open := true; open; {
						select {
						case <-closed:
							open = false
						case <-time.After(interval):
							_, _ = io.WriteString(conn, test.then)
						}
						if time.Since(begin) > time.Hour {
							t.Fatal("the connection is open after an hour")
						}
					}
					if took := time.Since(begin); took > test.within {
						t.Errorf("it is closed after %v, not within %v", took, test.within)
					}
					cancel(nil)
					<-done
				})
			})
		}
	}
}
