package xdstest

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
)

// A Line is the network in front of a server: connections in memory that can be paused and cut. It is
// safe for concurrent use.
type Line struct {
	mu    sync.Mutex
	going chan struct{} // closed, unless the line is paused
	conns map[net.Conn]struct{}
}

// NewLine returns a line that is not paused.
func NewLine() *Line {
	going := make(chan struct{})
	close(going)
	return &Line{going: going, conns: map[net.Conn]struct{}{}}
}

// Pause holds what is sent in both directions, as if a peer were stopped by SIGSTOP, or half of each
// connection were gone. It can be called again.
func (l *Line) Pause() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isPaused() {
		l.going = make(chan struct{})
	}
}

// Resume ends [Line.Pause].
func (l *Line) Resume() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.isPaused() {
		close(l.going)
	}
}

// isPaused is called with the lock.
func (l *Line) isPaused() bool {
	select {
	case <-l.going:
		return false
	default:
		return true
	}
}

// Paused reports whether the line is paused.
func (l *Line) Paused() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.isPaused()
}

// Cut closes all connections. What was held is lost.
func (l *Line) Cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.conns {
		_ = conn.Close()
	}
	clear(l.conns)
}

// Over returns a connection that passes the line to another one.
func (l *Line) Over(server net.Conn) (net.Conn, error) {
	pair := bufconn.Listen(1 << 20)
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := pair.Accept()
		accepted <- c
	}()
	client, err := pair.Dial()
	if err != nil {
		return nil, err
	}
	inner := <-accepted
	l.mu.Lock()
	l.conns[server], l.conns[inner] = struct{}{}, struct{}{}
	l.mu.Unlock()
	go l.pass(server, inner)
	go l.pass(inner, server)
	return client, nil
}

// pass copies what is sent until either side ends. Each part waits while the line is paused.
func (l *Line) pass(to, from net.Conn) {
	defer func() {
		_ = to.Close()
		_ = from.Close()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, to)
		delete(l.conns, from)
	}()
	part := make([]byte, 32<<10)
	for {
		n, err := from.Read(part)
		l.mu.Lock()
		going := l.going
		l.mu.Unlock()
		<-going
		if _, writeErr := to.Write(part[:n]); err != nil || writeErr != nil {
			return
		}
	}
}

// Delayed is a dial option that delays each response of each stream at random, so that streams of one
// connection are reordered. Most returns the longest delay.
func Delayed(seed uint64, most func() time.Duration) grpc.DialOption {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 11))
	return grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
		s, err := streamer(ctx, desc, conn, method, options...)
		if err != nil {
			return nil, err
		}
		return delayedStream{s, func() time.Duration {
			mu.Lock()
			defer mu.Unlock()
			if d := most(); d > 0 {
				return time.Duration(random.Int64N(int64(d)))
			}
			return 0
		}}, nil
	})
}

// delayedStream waits before it delivers a response.
type delayedStream struct {
	grpc.ClientStream
	delay func() time.Duration
}

// RecvMsg implements [grpc.ClientStream].
func (s delayedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if err != nil {
		return err
	}
	select {
	case <-time.After(s.delay()):
		return nil
	case <-s.Context().Done():
		return io.ErrUnexpectedEOF
	}
}
