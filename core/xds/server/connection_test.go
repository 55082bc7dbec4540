package server_test

import (
	"fmt"
	"io"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// on starts a client on a connection of its own.
func on(t *testing.T, conn *grpc.ClientConn, options xdstest.Options) *xdstest.Client {
	t.Helper()
	c, err := xdstest.New(t.Context(), conn, options)
	must(t, err)
	t.Cleanup(c.Close)
	must(t, c.Wildcard(wire.ClusterType))
	return c
}

// A server refuses streams past its limit, and closes their connection unless it has other
// streams. A stream that ends makes room.
func TestMaxStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(), MaxStreams: 2})
		isServed := func(c *xdstest.Client) bool {
			return settles(func() bool { return c.Err() == nil && len(c.Responses()) > 0 })
		}
		busy, other := r.dial(t), r.dial(t)
		first, second := on(t, busy, xdstest.Options{}), on(t, busy, xdstest.Options{})
		if !isServed(first) || !isServed(second) {
			t.Fatalf("streams within the limit: %v, %v", first.Err(), second.Err())
		}
		for _, conn := range []*grpc.ClientConn{busy, other} {
			c, err := xdstest.New(t.Context(), conn, xdstest.Options{})
			must(t, err)
			awaitEnd(t, c, codes.Unavailable)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := busy.GetState(); got != connectivity.Ready || first.Err() != nil {
			t.Errorf("a connection with other streams is %v", got)
		}
		if got := other.GetState(); got == connectivity.Ready {
			t.Error("the connection of a refused stream is open")
		}
		second.Close()
		synctest.Wait()
		if third := on(t, other, xdstest.Options{}); !isServed(third) {
			t.Errorf("a stream that has ended counts: %v", third.Err())
		}
	})
}

// Connections end at their age, each at another time. A client that connects again gets
// only what has changed.
func TestMaxConnectionAge(t *testing.T) {
	const age, grace = time.Hour, 5 * time.Second
	resources := []*wire.Resource{xdstest.Resource(wire.ClusterType, "a", "1"), xdstest.Resource(wire.ClusterType, "b", "1")}
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(resources...), MaxConnectionAge: age})
		var clients []*xdstest.Client
		for range 20 {
			c := on(t, r.dial(t), xdstest.Options{Node: node("n")})
			await(t, c, wire.ClusterType, resources...)
			clients = append(clients, c)
		}
		ended := func() (n int) {
			synctest.Wait()
			for _, c := range clients {
				if c.Err() != nil {
					n++
				}
			}
			return n
		}
		time.Sleep(age*9/10 - time.Second)
		if n := ended(); n > 0 {
			t.Errorf("%d connections end before 90 %% of the age", n)
		}
		var ends []int // streams that have ended, at each minute
		for range 13 {
			time.Sleep(time.Minute)
			ends = append(ends, ended())
		}
		if n := ended(); n != len(clients) {
			t.Errorf("%d of %d connections have ended after 110 %% of the age and %v", n, len(clients), grace)
		}
		if different := slices.Compact(ends); len(different) < 5 {
			t.Errorf("the connections end together: %v", ends)
		}
		setNode(r.source, resources[0], xdstest.Resource(wire.ClusterType, "b", "2"))
		for _, c := range clients {
			again, err := xdstest.New(t.Context(), r.dial(t), xdstest.Options{Node: node("n"), Resume: c})
			must(t, err)
			t.Cleanup(again.Close)
			synctest.Wait()
			var got []string
			for _, response := range again.Responses() {
				for _, resource := range response.Resources {
					got = append(got, resource.Name)
				}
			}
			if fmt.Sprint(got) != "[b]" {
				t.Errorf("a client that comes back gets %v, want [b]", got)
			}
		}
	})
}

// A relay has ten times as many streams as another client, all of them on one connection. The
// stream past that is refused with a reason.
func TestStreamsOfRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit = 20
		r := start(t, server.Options{Source: oneNode(), MaxStreamsPerPeer: limit, Relay: func(*server.Client) bool { return true }})
		for i := range 10 * limit {
			if c := on(t, r.conn, xdstest.Options{}); !settles(func() bool { return len(c.Responses()) == 1 }) {
				t.Fatalf("stream %d is not served: %v", i, c.Err())
			}
		}
		c, err := xdstest.New(t.Context(), r.conn, xdstest.Options{})
		must(t, err)
		awaitEnd(t, c, codes.ResourceExhausted)
	})
}

// A connection whose client no longer answers ends within a minute.
func TestDeadConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode()})
		conn, err := r.listen.DialContext(t.Context())
		must(t, err)
		defer conn.Close()
		must(t, beginRequests(t, conn, 1, 10)) // it reads, and answers no ping
		time.Sleep(49 * time.Second)
		if !settles(func() bool { return r.Counters().Streams[0].Load() == 1 }) {
			t.Error("the stream ends too early")
		}
		time.Sleep(2 * time.Second)
		if !settles(func() bool { return r.Counters().Streams[0].Load() == 0 }) {
			t.Error("the stream of a dead connection is open")
		}
	})
}

// A client may ping every 10 s (SPEC 16). One that pings more often is disconnected.
func TestPings(t *testing.T) {
	for pause, open := range map[time.Duration]bool{11 * time.Second: true, 9 * time.Second: false} {
		t.Run(pause.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, server.Options{Source: oneNode()})
				conn, err := r.listen.DialContext(t.Context())
				must(t, err)
				defer conn.Close()
				must(t, beginRequests(t, conn, 1, 10))
				framer := http2.NewFramer(conn, nil)
				for range 20 {
					time.Sleep(pause)
					_ = framer.WritePing(false, [8]byte{1})
					_ = framer.WritePing(true, [8]byte{1}) // answers pings of the server
				}
				if !settles(func() bool { return (r.Counters().Streams[0].Load() == 1) == open }) {
					t.Errorf("%d streams are open", r.Counters().Streams[0].Load())
				}
			})
		})
	}
}

// Connections that have not begun HTTP/2 are limited, and one address leaves some to others.
// One that begins it, or ends, makes room.
func TestArrivingConnections(t *testing.T) {
	s := server.New(server.Options{Source: oneNode()})
	s.LimitArriving(3, 4)
	g := grpc.NewServer(s.GRPCOptions(nil)...)
	s.Register(g)
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go func() { _ = g.Serve(listen) }()
	t.Cleanup(g.Stop)
	dial := func(from string) net.Conn {
		conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext(t.Context(), "tcp", listen.Addr().String())
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	// isAdmitted waits for the settings of the server, or the end of the connection.
	isAdmitted := func(conn net.Conn) bool {
		_, err := conn.Read(make([]byte, 9))
		return err == nil
	}
	var silent []net.Conn
	for i := range 3 {
		silent = append(silent, dial("127.0.0.1"))
		if !isAdmitted(silent[i]) {
			t.Fatalf("connection %d of an address is refused", i+1)
		}
	}
	if isAdmitted(dial("127.0.0.1")) {
		t.Error("one more is admitted")
	}
	if !isAdmitted(dial("127.0.0.2")) {
		t.Error("one of another address is refused")
	}
	if isAdmitted(dial("127.0.0.3")) {
		t.Error("one more than all is admitted")
	}
	if n := s.Counters().Refused.Load(); n != 2 {
		t.Errorf("%d refused connections are counted", n)
	}
	awaitArriving := func(n int) {
		for deadline := time.Now().Add(10 * time.Second); s.Arriving() != n; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d connections are arriving, want %d", s.Arriving(), n)
			}
		}
	}
	_, err = io.WriteString(silent[0], http2.ClientPreface)
	must(t, err)
	must(t, http2.NewFramer(silent[0], nil).WriteSettings())
	awaitArriving(3)
	_ = silent[1].Close()
	awaitArriving(2)
	for range 2 {
		if !isAdmitted(dial("127.0.0.1")) {
			t.Error("there is no room")
		}
	}
}

// A client has at most as many connections as streams.
func TestConnectionsOfOneClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(), MaxStreamsPerPeer: 2, Identify: identifyAs("spiffe://td/a")})
		connect := func() *flooder {
			f := newFlooder(t, r)
			synctest.Wait()
			return f
		}
		first, second, third := connect(), connect(), connect()
		isOpen := func(f *flooder) bool {
			synctest.Wait()
			select {
			case <-f.closed:
				return false
			default:
				return true
			}
		}
		if !isOpen(first) || !isOpen(second) || isOpen(third) {
			t.Errorf("open: %t, %t, %t", isOpen(first), isOpen(second), isOpen(third))
		}
		_ = first.conn.Close()
		synctest.Wait()
		if !isOpen(connect()) {
			t.Error("a connection that has ended counts")
		}
	})
}
