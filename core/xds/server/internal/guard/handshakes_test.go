package guard

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A shake is a handshake of the test: each message of the client takes a second to compute.
type shake struct {
	name   string
	client net.Conn
	server *handshakeConn
}

// Two handshakes are computed at a time. Those that have begun go before the others, and
// these go in the order of their first bytes. A client that sends nothing delays none.
func TestHandshakesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &handshakes{limit: 2}
		begin := time.Now()
		var mu sync.Mutex // guards the following
		var steps []string
		running, most := 0, 0
		start := func(name string) *shake {
			client, server := net.Pipe()
			s := &shake{name, client, &handshakeConn{Conn: server, all: all}}
			t.Cleanup(func() { _ = client.Close(); _ = server.Close() })
			go func() {
				defer s.server.end()
				for message := range 2 {
					if _, err := io.ReadFull(s.server, make([]byte, 1)); err != nil {
						return
					}
					mu.Lock()
					running++
					most = max(most, running)
					mu.Unlock()
					time.Sleep(time.Second)
					mu.Lock()
					running--
					steps = append(steps, fmt.Sprintf("%v %s%d", time.Since(begin), name, message+1))
					mu.Unlock()
				}
			}()
			return s
		}
		send := func(s *shake) { _, _ = s.client.Write([]byte{0}); synctest.Wait() }
		start("silent")
		stalled := start("stalled")
		send(stalled)
		time.Sleep(500 * time.Millisecond)
		shakes := []*shake{}
		for _, name := range []string{"a", "b", "c", "d"} {
			s := start(name)
			shakes = append(shakes, s)
			send(s)
		}
		go func() { _, _ = shakes[0].client.Write([]byte{0}) }() // at once; the others answer later
		time.Sleep(4 * time.Second)
		for _, s := range shakes[1:] {
			send(s)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"1s stalled1", "1.5s a1", "2s b1", "2.5s c1", "3s a2", "3.5s d1", "5.5s b2", "5.5s c2", "6.5s d2"}
		slices.Sort(want)
		slices.Sort(steps) // two of them end together
		if most != 2 || !slices.Equal(steps, want) {
			t.Errorf("%d at a time, in the steps %v, want %v", most, steps, want)
		}
		if all.turns != 0 {
			t.Errorf("%d turns are not given back", all.turns)
		}
	})
}

// The deadline of a handshake begins with its first turn: a client does not pay for the
// time in which the server computes others.
func TestHandshakeDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := &handshakes{limit: 1}
		all.enter(false)
		client, server := net.Pipe()
		defer client.Close()
		c := &handshakeConn{Conn: server, all: all}
		_ = server.SetDeadline(time.Now().Add(HandshakeTimeout)) // as gRPC does
		ended := make(chan error, 1)
		go func() {
			defer c.end()
			_, err := io.ReadFull(c, make([]byte, 2))
			ended <- err
		}()
		_, _ = client.Write([]byte{0})
		time.Sleep(2 * HandshakeTimeout)
		all.leave()
		time.Sleep(HandshakeTimeout - time.Second)
		select {
		case err := <-ended:
			t.Fatalf("the handshake ends with its wait: %v", err)
		default:
		}
		time.Sleep(time.Second + time.Nanosecond)
		var timeout net.Error
		if err := <-ended; !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("the handshake ends with %v, want a timeout", err)
		}
	})
}
