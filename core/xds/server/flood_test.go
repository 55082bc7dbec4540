package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The tests of this file are about clients that send frames of HTTP/2 to keep the server busy
// (SPEC 12.3).

// A flooder is a connection that writes frames, and reads what the server writes.
type flooder struct {
	*http2.Framer
	t        *testing.T
	conn     net.Conn
	headers  bytes.Buffer
	next     uint32 // stream
	settings []http2.Setting
	pinged   chan struct{} // the server has answered the ping of end
	closed   chan struct{} // the server has closed the connection
}

// identifyAs returns an Options.Identify that gives all clients one identity.
func identifyAs(id string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return id, nil }
}

// ending is the data of the ping that ends a flood.
var ending = [8]byte{'e', 'n', 'd'}

func newFlooder(t *testing.T, r *running) *flooder {
	t.Helper()
	conn, err := r.listen.DialContext(t.Context())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	f := &flooder{Framer: http2.NewFramer(conn, conn), t: t, conn: conn, next: 1, pinged: make(chan struct{}), closed: make(chan struct{})}
	go f.read()
	_, err = io.WriteString(conn, http2.ClientPreface)
	must(t, err)
	must(t, f.WriteSettings())
	return f
}

func (f *flooder) read() {
	defer close(f.closed)
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			_ = frame.ForeachSetting(func(s http2.Setting) error {
				f.settings = append(f.settings, s)
				return nil
			})
		case *http2.PingFrame:
			if frame.IsAck() && frame.Data == ending {
				close(f.pinged)
			}
		}
	}
}

// block encodes the headers of a call, with further fields.
func (f *flooder) block(more ...hpack.HeaderField) []byte {
	f.headers.Reset()
	encoder := hpack.NewEncoder(&f.headers)
	for _, h := range append([]hpack.HeaderField{
		{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "http"}, {Name: ":authority", Value: "server"},
		{Name: ":path", Value: discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResources_FullMethodName},
		{Name: "content-type", Value: "application/grpc"}, {Name: "te", Value: "trailers"},
	}, more...) {
		must(f.t, encoder.WriteField(h))
	}
	return bytes.Clone(f.headers.Bytes())
}

// open opens a stream, and returns its id.
func (f *flooder) open(more ...hpack.HeaderField) uint32 {
	id := f.next
	f.next += 2
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: f.block(more...), EndHeaders: true})
	return id
}

// encoded is a request as the data of a stream.
func encoded(t *testing.T, request *discoveryv3.DeltaDiscoveryRequest) []byte {
	t.Helper()
	body, err := proto.Marshal(request)
	must(t, err)
	return append([]byte{0, byte(len(body) >> 24), byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body))}, body...)
}

// floods are what a client may send without end. Each writes a part; times such parts cost
// about 40 MiB, so the last one is read after about 4 s.
var floods = []struct {
	name  string
	times int
	part  func(f *flooder)
}{
	{"streams that are reset", 2000, func(f *flooder) { _ = f.WriteRSTStream(f.open(), http2.ErrCodeCancel) }},
	{"requests that are reset", 2000, func(f *flooder) {
		id := f.open()
		_ = f.WriteData(id, false, encoded(f.t, &discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: wire.ClusterType.URL()}))
		_ = f.WriteRSTStream(id, http2.ErrCodeCancel)
	}},
	{"streams that the server ends", 2000, func(f *flooder) {
		_ = f.WriteData(f.open(), true, encoded(f.t, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: strings.Repeat("x", 2000)}))
	}},
	{"streams that the server resets", 2000, func(f *flooder) {
		id := f.open()
		_ = f.WriteData(id, true, nil)
		_ = f.WriteData(id, false, []byte{0})
	}},
	{"calls of another method", 13_000, func(f *flooder) {
		_ = f.WriteRSTStream(f.open(hpack.HeaderField{Name: "connection", Value: "close"}), http2.ErrCodeCancel)
	}},
	{"headers with many fields", 4000, func(f *flooder) {
		_ = f.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, f.next, bytes.Repeat([]byte{0x80 | 2}, 1200)) // :method GET
		f.next += 2
	}},
	{"settings", 3000, func(f *flooder) { _ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 16}) }},
	{"many settings at once", 12, func(f *flooder) {
		var all []http2.Setting
		for i := range uint32(250) {
			all = append(all, http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1<<16 + i%2})
		}
		_ = f.WriteSettings(all...)
	}},
	{"window updates", 40_000, func(f *flooder) { _ = f.WriteWindowUpdate(0, 1) }},
	{"priorities", 40_000, func(f *flooder) { _ = f.WritePriority(1, http2.PriorityParam{Weight: 1}) }},
	{"empty data", 40_000, func(f *flooder) { _ = f.WriteData(1, false, nil) }},
	{"unknown frames", 40_000, func(f *flooder) { _ = f.WriteRawFrame(0xee, 0, 0, nil) }},
	{"requests of one stream", 40_000, func(f *flooder) {
		if f.next == 1 {
			f.open()
		}
		_ = f.WriteData(1, false, encoded(f.t, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL(), ResourceNamesSubscribe: []string{"a"}}))
	}},
}

// A client that sends more than its share is read later, whatever it sends. The server holds
// nothing of what it has not read, and other clients get changes meanwhile.
func TestFloodsAreReadLater(t *testing.T) {
	for _, flood := range floods {
		t.Run(flood.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, server.Options{Source: oneNode(xdstest.Resource(wire.ClusterType, "a", "0"))})
				honest := r.client(t, xdstest.Options{Node: node("n")})
				must(t, honest.Wildcard(wire.ClusterType))
				await(t, honest, wire.ClusterType, xdstest.Resource(wire.ClusterType, "a", "0"))

				f := newFlooder(t, r)
				begin := time.Now()
				go func() {
					for range flood.times {
						flood.part(f)
					}
					_ = f.WritePing(false, ending)
				}()
				for i := range 3 {
					time.Sleep(time.Second)
					a := xdstest.Resource(wire.ClusterType, "a", fmt.Sprint(i+1))
					setNode(r.source, a)
					await(t, honest, wire.ClusterType, a) // without a wait
				}
				select {
				case <-f.pinged:
				case <-f.closed:
					t.Fatal("the connection is closed")
				}
				if took := time.Since(begin); took < 3500*time.Millisecond || took > 8*time.Second {
					t.Errorf("all of it is read after %v", took)
				}
				if paused := time.Duration(r.Counters().Paused.Load()); paused < 3*time.Second {
					t.Errorf("the connection was not read for %v", paused)
				}
			})
		})
	}
}

// What a client needs for honest work is read at once: thousands of streams of one connection,
// and many connections of one client.
func TestHonestStormIsReadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(), Identify: identifyAs("spiffe://td/a")})
		request := encoded(t, &discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: wire.ClusterType.URL()})
		begin := time.Now()
		for range 500 {
			f := newFlooder(t, r)
			for range 2 {
				must(t, f.WriteData(f.open(), false, request))
			}
		}
		one := newFlooder(t, r)
		for range 1500 {
			must(t, one.WriteData(one.open(), false, request))
		}
		if !settles(func() bool { return r.Counters().Streams[0].Load() == 2500 }) || time.Since(begin) > 0 {
			t.Errorf("after %v there are %d streams", time.Since(begin), r.Counters().Streams[0].Load())
		}
	})
}

// A client that connects again has to pay what it has spent before, on each of its connections.
func TestPaceOfAllConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(), Identify: identifyAs("spiffe://td/a"), MaxRate: 1 << 20})
		begin := time.Now()
		for range 10 {
			f := newFlooder(t, r)
			for range 1000 { // 1 MiB
				_ = f.WriteWindowUpdate(0, 1)
			}
			must(t, f.WritePing(false, ending))
			<-f.pinged
			_ = f.conn.Close()
		}
		if took := time.Since(begin); took < 8*time.Second || took > 10*time.Second {
			t.Errorf("all of it is read after %v", took)
		}
		time.Sleep(time.Minute)
		if n := r.Clients(); n > 0 {
			t.Errorf("%d clients are kept", n)
		}
	})
}

// The server does not wait for a connection that it does not read.
func TestEndOfFlooded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(), MaxRate: 64 << 10})
		f := newFlooder(t, r)
		for range 1000 {
			_ = f.WriteWindowUpdate(0, 1)
		}
		time.Sleep(time.Second)
		begin := time.Now()
		r.grpc.Stop()
		<-f.closed
		if took := time.Since(begin); took > 0 {
			t.Errorf("it ends after %v", took)
		}
	})
}

// A connection ends if it has many pings, or headers that do not end.
func TestFloodsThatEndTheConnection(t *testing.T) {
	for name, part := range map[string]func(f *flooder) error{
		"pings": func(f *flooder) error { return f.WritePing(false, [8]byte{}) },
		"headers that do not end": func(f *flooder) error {
			if f.next == 1 {
				f.next = 3
				return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: f.block()})
			}
			return f.WriteContinuation(1, false, bytes.Repeat([]byte{0x80 | 15}, 1000)) // accept-charset
		},
		"empty continuations": func(f *flooder) error {
			if f.next == 1 {
				f.next = 3
				return f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: f.block()})
			}
			return f.WriteContinuation(1, false, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, server.Options{Source: oneNode()})
				f := newFlooder(t, r)
				go func() {
					for part(f) == nil {
					}
				}()
				select {
				case <-f.closed:
				case <-time.After(time.Minute):
					t.Error("after a minute, the connection is open")
				}
			})
		})
	}
}

// The limits of HTTP/2 that the server announces.
func TestSettings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode()})
		f := newFlooder(t, r)
		synctest.Wait()
		got := fmt.Sprint(f.settings)
		for _, want := range []string{"[MAX_CONCURRENT_STREAMS = 20100]", "[MAX_HEADER_LIST_SIZE = 65536]", "[HEADER_TABLE_SIZE = 0]", "[MAX_FRAME_SIZE = 16384]"} {
			if !strings.Contains(got, want) {
				t.Errorf("the settings are %s, without %s", got, want)
			}
		}
	})
}

// A client stops in the middle of what it begins, or goes on byte by byte. Its connection ends,
// and what it held is free.
func TestSlowConnections(t *testing.T) {
	var frames bytes.Buffer
	f := http2.NewFramer(&frames, nil)
	must(t, f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 16}))
	settings := frames.String()
	for name, k := range map[string]struct {
		begin, then string // then is sent byte by byte, one each second
		within      time.Duration
	}{
		"nothing":              {"", "", 10 * time.Second},
		"a slow preface":       {"", http2.ClientPreface, 10 * time.Second},
		"no settings":          {http2.ClientPreface, "", 10 * time.Second},
		"slow settings":        {http2.ClientPreface, settings, 10 * time.Second},
		"no stream":            {http2.ClientPreface + settings, "", 2 * time.Minute},
		"half of a frame":      {http2.ClientPreface + settings, "\x00\x00\x40\x00\x00", 2 * time.Minute},
		"a frame byte by byte": {http2.ClientPreface + settings, "\x00\x40\x00\x01\x04\x00\x00\x00\x01" + strings.Repeat("\x82", 1<<14), 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t, server.Options{Source: oneNode()})
				begin := time.Now()
				conn, err := r.listen.DialContext(t.Context())
				must(t, err)
				closed := make(chan struct{})
				go func() {
					defer close(closed)
					_, _ = io.Copy(io.Discard, conn)
				}()
				_, err = io.WriteString(conn, k.begin)
				must(t, err)
				for i := range len(k.then) {
					select {
					case <-closed:
					case <-time.After(time.Second):
						_, _ = conn.Write([]byte{k.then[i]})
					}
				}
				<-closed
				if took := time.Since(begin); took > k.within {
					t.Errorf("it is closed after %v", took)
				}
				if !settles(func() bool { return r.Clients() == 0 && r.Arriving() == 0 }) {
					t.Errorf("%d clients and %d arriving connections are kept", r.Clients(), r.Arriving())
				}
			})
		})
	}
}
