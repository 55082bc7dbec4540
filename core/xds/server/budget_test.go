package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"testing/synctest"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// ask subscribes names on a new stream, and returns whether they are answered and a
// function that ends the stream.
func ask(t *testing.T, conn grpc.ClientConnInterface, identity string, names []string) (end func(), err error) {
	t.Helper()
	ctx, cancel := context.WithCancel(as(identity))
	t.Cleanup(cancel)
	stream := deltaConversation(t, conn, ctx)
	if err := stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.EndpointType.URL(), ResourceNamesSubscribe: names}); err != nil {
		t.Log(err) // Recv has the reason
	}
	_, err = stream.Recv()
	return cancel, err
}

// A client has one budget for all its streams, and what a stream used is free again when it
// has ended.
func TestBudget(t *testing.T) {
	tests := []struct {
		name    string
		options server.Options
		names   []string // of each stream: two of them pass the limit
	}{
		{"names", server.Options{MaxSubscriptions: 150}, xdstest.MissingNames(100, 10)},
		{"bytes", server.Options{MaxSubscriptionBytes: 163_000}, xdstest.MissingNames(100, 1000)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				test.options.Source, test.options.Identify = oneNode(), identify
				test.options.Relay = func(c *server.Client) bool { return c.Identity == "relay" }
				r := start(t, test.options)
				var ends []func()
				streams := func(identity string, n int, code codes.Code) {
					t.Helper()
					for i := range n {
						end, err := ask(t, r.conn, identity, test.names)
						if want := codes.OK; i < n-1 && status.Code(err) != want || i == n-1 && status.Code(err) != code {
							t.Fatalf("stream %d of %s ends with %v", i, identity, err)
						}
						ends = append(ends, end)
					}
				}
				streams("a", 2, codes.ResourceExhausted)
				streams("b", 1, codes.OK) // its own budget
				streams("relay", 12, codes.OK)
				streams("relay", 4, codes.ResourceExhausted)
				for _, end := range ends {
					end()
				}
				if !settles(func() bool { return r.Counters().Subscriptions[wire.EndpointType].Load() == 0 }) {
					t.Fatal("the streams do not end")
				}
				if _, err := ask(t, r.conn, "a", test.names); err != nil {
					t.Errorf("a stream that has ended uses the budget of its client: %v", err)
				}
			})
		})
	}
}

// A client uses what its streams subscribe now: names that it adds one by one, or drops, or that
// a stream had which has ended, take no more than if it had subscribed to the rest at once.
func TestBudgetFollowsSubscriptions(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		const limit = 100
		names := xdstest.MissingNames(limit+1, 100)
		r := start(t, server.Options{Source: oneNode(), Identify: identify, MaxSubscriptions: limit, MaxSubscriptionBytes: limit * 250})
		stream := func() *xdstest.Client {
			c, err := xdstest.New(as("a"), r.conn, xdstest.Options{StateOfTheWorld: sotw})
			must(t, err)
			t.Cleanup(c.Close)
			return c
		}
		first, second := stream(), stream()
		must(t, second.Subscribe(wire.EndpointType, names[0]))
		for _, name := range names[1:60] {
			must(t, first.Subscribe(wire.EndpointType, name))
			synctest.Wait()
		}
		must(t, first.Unsubscribe(wire.EndpointType, names[1:50]...))
		synctest.Wait()
		must(t, first.Subscribe(wire.EndpointType, names[1:limit]...))
		synctest.Wait()
		first.Close()
		synctest.Wait()
		must(t, second.Subscribe(wire.EndpointType, names[1:limit]...))
		synctest.Wait()
		if first.Err() == nil || status.Code(first.Err()) != codes.Canceled || second.Err() != nil {
			t.Errorf("within the limit, the streams end with %v and %v", first.Err(), second.Err())
		}
		must(t, second.Subscribe(wire.EndpointType, names...))
		awaitEnd(t, second, codes.ResourceExhausted)
		if !settles(func() bool { return r.Charged() == 0 }) {
			t.Errorf("%d bytes are charged when all streams have ended", r.Charged())
		}
	})
}

// In total, a client with many subscriptions leaves room for those with few.
func TestTotalBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(), Identify: identify, MaxTotalBytes: 16 << 20})
		large, small := xdstest.MissingNames(5000, 1000), xdstest.MissingNames(10, 1000) // 5.3 MB, 10 KB
		if _, err := ask(t, r.conn, "a", large); err != nil {
			t.Fatal(err)
		}
		if _, err := ask(t, r.conn, "b", large); status.Code(err) != codes.ResourceExhausted {
			t.Errorf("a client past the total gets %v", err)
		}
		for i := range 20 {
			if _, err := ask(t, r.conn, fmt.Sprint("honest", i), small); err != nil {
				t.Errorf("a small client gets %v", err)
			}
		}
	})
}

// On loopback each connection is a client: all of them have one host.
func TestBudgetOnLoopback(t *testing.T) {
	s := server.New(server.Options{Source: oneNode(), MaxSubscriptions: 150})
	g := grpc.NewServer(s.GRPCOptions(nil)...)
	s.Register(g)
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	go func() { _ = g.Serve(listen) }()
	t.Cleanup(g.Stop)
	connect := func() *grpc.ClientConn {
		conn, err := grpc.NewClient(listen.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	names := xdstest.MissingNames(100, 10)
	one, other := connect(), connect()
	for _, conn := range []*grpc.ClientConn{one, other} {
		if _, err := ask(t, conn, "", names); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := ask(t, one, "", names); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("the second stream of a connection gets %v", err)
	}
}

// beginRequests opens streams on a connection, and sends the first so many bytes of a
// large request on each of them. It returns an error when the connection ends.
func beginRequests(t *testing.T, conn net.Conn, streams, size int) error {
	t.Helper()
	go func() { _, _ = io.Copy(io.Discard, conn) }()
	_, err := io.WriteString(conn, http2.ClientPreface)
	must(t, err)
	framer := http2.NewFramer(conn, nil)
	must(t, framer.WriteSettings())
	var headers bytes.Buffer
	encoder := hpack.NewEncoder(&headers)
	for i := range streams {
		id := uint32(2*i + 1)
		headers.Reset()
		for _, h := range [][2]string{
			{":method", "POST"}, {":scheme", "http"}, {":authority", "server"},
			{":path", discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResources_FullMethodName},
			{"content-type", "application/grpc"}, {"te", "trailers"},
		} {
			must(t, encoder.WriteField(hpack.HeaderField{Name: h[0], Value: h[1]}))
		}
		if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: headers.Bytes(), EndHeaders: true}); err != nil {
			return err
		}
		data := append([]byte{0, 1, 0, 0, 0}, make([]byte, size)...) // 16 MiB in all
		for len(data) > 0 {
			n := min(len(data), 16<<10)
			if err := framer.WriteData(id, false, data[:n]); err != nil {
				return err
			}
			data = data[n:]
		}
	}
	return nil
}

// The bytes of incomplete requests are charged to the client, and are free again when its
// connection ends. A connection that exceeds a limit ends; connections of other clients do not.
func TestBudgetOfPartialRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 60_000 // the window of a stream takes it
		r := start(t, server.Options{Source: oneNode(), MaxSubscriptionBytes: 10 * size, MaxTotalBytes: 25 * size})
		begin := func(streams int) (conn net.Conn, err error) {
			conn, err = r.listen.DialContext(t.Context())
			must(t, err)
			t.Cleanup(func() { _ = conn.Close() })
			return conn, beginRequests(t, conn, streams, size)
		}
		honest := r.client(t, xdstest.Options{Node: node("n")})
		must(t, honest.Wildcard(wire.ClusterType))
		var within []net.Conn
		for range 2 {
			conn, err := begin(9)
			if err != nil {
				t.Fatalf("requests within the limit: %v", err)
			}
			within = append(within, conn)
			synctest.Wait() // it is read before the next one passes the total
		}
		past, _ := begin(11)
		synctest.Wait()
		if _, err := past.Write([]byte{0}); err == nil {
			t.Error("a connection with more than its client may have is open")
		}
		if !settles(func() bool { return r.Charged() == 2*9*(size+128) }) {
			t.Errorf("%d bytes are charged", r.Charged())
		}
		must(t, honest.Subscribe(wire.EndpointType, "a"))
		if !settles(func() bool { return len(honest.Responses()) == 2 }) {
			t.Errorf("the other client has %v, and ends with %v", honest.Responses(), honest.Err())
		}
		honest.Close()
		for _, conn := range within {
			_ = conn.Close()
		}
		if !settles(func() bool { return r.Charged() == 0 }) {
			t.Errorf("%d bytes are charged when all connections have ended", r.Charged())
		}
	})
}
