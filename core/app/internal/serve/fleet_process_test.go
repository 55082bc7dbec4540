package serve_test

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// The clients of [BenchmarkStreamConnections] are a process of their own, so that the
// memory of the server is measured alone. It is this test binary with fleetVariable set to
// a file. The commands come on standard input, one a line. Each is done by all clients at
// once, and answered by a line on standard output:
//
//	connect  open a connection with a stream each, and get all resources
//	break    close all connections, and connect again at once
//	close    close all connections
//
// The clients do not use gRPC, which would take most of the processors: they do what mutual
// TLS, HTTP/2 and delta ADS need and no more.
const fleetVariable = "MESHMATCH_FLEET"

// fleet describes the clients, as JSON.
type fleet struct {
	Address string
	Names   []string // of endpoints and routes
	Clients []fleetMember
}

type fleetMember struct {
	Node             string
	Certificate, Key []byte // PEM
}

// fleetTypes are the types that each client subscribes.
var fleetTypes = []wire.Type{wire.ClusterType, wire.EndpointType, wire.ListenerType, wire.RouteType}

func TestFleetProcess(t *testing.T) {
	path := os.Getenv(fleetVariable)
	if path == "" {
		t.Skip("it is the process of a benchmark")
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var f fleet
	if err := json.Unmarshal(content, &f); err != nil {
		t.Fatal(err)
	}
	clients := make([]*fleetClient, len(f.Clients))
	for i, m := range f.Clients {
		pair, err := tls.X509KeyPair(m.Certificate, m.Key)
		if err != nil {
			t.Fatal(err)
		}
		clients[i] = &fleetClient{fleet: &f, node: m.Node, index: i, config: &tls.Config{
			Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"},
			InsecureSkipVerify: true, // to verify is work of the client, which is not measured
		}}
	}
	each := func(do func(*fleetClient)) {
		var all sync.WaitGroup
		for _, c := range clients {
			all.Go(func() { do(c) })
		}
		all.Wait()
	}
	for commands := bufio.NewScanner(os.Stdin); commands.Scan(); {
		switch commands.Text() {
		case "connect":
			each((*fleetClient).connect)
		case "break":
			for _, c := range clients {
				c.close()
			}
			each((*fleetClient).connect)
		case "close":
			each((*fleetClient).close)
		}
		fmt.Println("done", fleetRetries.Swap(0))
	}
}

// fleetRetries counts connections that failed before all resources were there.
var fleetRetries atomic.Int64

// fleetRetry is how long a client waits before it tries again.
const fleetRetry = 100 * time.Millisecond

type fleetClient struct {
	fleet  *fleet
	node   string
	index  int
	config *tls.Config
	conn   net.Conn
	held   [wire.NumTypes]map[string]string // versions by name
}

// connect connects until all resources are there. The connection is then read until it is
// closed.
func (c *fleetClient) connect() {
	for {
		converged := make(chan struct{})
		failed := make(chan error, 1)
		conn, err := c.dial()
		if err == nil {
			c.conn = conn
			go func() { failed <- c.converse(conn, converged) }()
			select {
			case <-converged:
				return
			case err = <-failed:
				_ = conn.Close()
			}
		}
		fmt.Fprintln(os.Stderr, c.node, err)
		fleetRetries.Add(1)
		time.Sleep(fleetRetry)
	}
}

func (c *fleetClient) close() { _ = c.conn.Close() }

// dial opens a connection with mutual TLS, as a client that gives up after 20 s.
func (c *fleetClient) dial() (net.Conn, error) {
	const patience = 20 * time.Second
	// Several addresses have enough ports for connections that were closed a moment ago.
	from := &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+c.index%8))}
	raw, err := (&net.Dialer{LocalAddr: from, Timeout: patience}).Dial("tcp", c.fleet.Address)
	if err != nil {
		return nil, err
	}
	conn := tls.Client(raw, c.config)
	_ = raw.SetDeadline(time.Now().Add(patience))
	if err := conn.Handshake(); err != nil {
		_ = raw.Close()
		return nil, err
	}
	_ = raw.SetDeadline(time.Time{})
	return conn, nil
}

// converse subscribes all types, with the versions that the client holds, and ACKs each
// response. It closes converged after the first response of each type.
func (c *fleetClient) converse(conn net.Conn, converged chan<- struct{}) error {
	var out bytes.Buffer // flushed at the end of each step
	framer := http2.NewFramer(&out, conn)
	framer.SetReuseFrames()
	out.WriteString(http2.ClientPreface)
	const window = 1 << 30
	_ = framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	_ = framer.WriteWindowUpdate(0, window)
	_ = framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, EndHeaders: true, BlockFragment: callHeaders()})
	node := &corev3.Node{Id: c.node, UserAgentName: "envoy"}
	for _, t := range fleetTypes {
		r := &discoveryv3.DeltaDiscoveryRequest{Node: node, TypeUrl: t.URL(), InitialResourceVersions: c.held[t]}
		if t == wire.EndpointType || t == wire.RouteType {
			r.ResourceNamesSubscribe = c.fleet.Names
		}
		node = nil
		if err := writeMessage(framer, r); err != nil {
			return err
		}
	}
	var in []byte // what has come of the next message
	answered := 0
	for {
		if _, err := out.WriteTo(conn); err != nil {
			return err
		}
		frame, err := framer.ReadFrame()
		if err != nil {
			return err
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				_ = framer.WritePing(true, frame.Data)
			}
		case *http2.GoAwayFrame, *http2.RSTStreamFrame:
			return errors.New(frame.Header().String())
		case *http2.HeadersFrame:
			if frame.StreamEnded() {
				return errors.New("the stream has ended")
			}
		case *http2.DataFrame:
			in = append(in, frame.Data()...)
			for {
				message, rest, ok := cutMessage(in)
				if !ok {
					break
				}
				ack, err := c.take(message)
				if err != nil {
					return err
				}
				if err := writeMessage(framer, ack); err != nil {
					return err
				}
				if answered++; answered == len(fleetTypes) {
					close(converged)
				}
				in = rest
			}
			in = append([]byte(nil), in...)
		}
	}
}

// take keeps the versions of a response, and returns its ACK.
func (c *fleetClient) take(message []byte) (*discoveryv3.DeltaDiscoveryRequest, error) {
	const resources, typeURL, nonce, name, version = 2, 4, 5, 3, 1
	ack := &discoveryv3.DeltaDiscoveryRequest{}
	versions := map[string]string{}
	err := eachText(message, func(number protowire.Number, value []byte) error {
		switch number {
		case typeURL:
			ack.TypeUrl = string(value)
		case nonce:
			ack.ResponseNonce = string(value)
		case resources:
			var n, v string
			err := eachText(value, func(number protowire.Number, value []byte) error {
				switch number {
				case name:
					n = string(value)
				case version:
					v = string(value)
				}
				return nil
			})
			versions[n] = v
			return err
		}
		return nil
	})
	if t, ok := wire.TypeOf(ack.TypeUrl); ok && len(versions) > 0 {
		if c.held[t] == nil {
			c.held[t] = map[string]string{}
		}
		for n, v := range versions {
			c.held[t][n] = v
		}
	}
	return ack, err
}

// eachText calls visit for the fields of a message that have a length.
func eachText(b []byte, visit func(protowire.Number, []byte) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return io.ErrUnexpectedEOF
		}
		m := protowire.ConsumeFieldValue(number, kind, b[n:])
		if m < 0 {
			return io.ErrUnexpectedEOF
		}
		if kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(b[n:])
			if err := visit(number, value); err != nil {
				return err
			}
		}
		b = b[n+m:]
	}
	return nil
}

// callHeaders returns the header block of a call.
var callHeaders = sync.OnceValue(func() []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	for _, f := range [][2]string{
		{":method", "POST"}, {":scheme", "https"}, {":authority", "localhost"},
		{":path", discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResources_FullMethodName},
		{"content-type", "application/grpc"}, {"te", "trailers"},
	} {
		_ = encoder.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	return block.Bytes()
})

// messagePrefix is the length of what is before each message: a flag and a length.
const messagePrefix = 5

func writeMessage(framer *http2.Framer, m proto.Message) error {
	b, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, messagePrefix), m)
	if err != nil {
		return err
	}
	binary.BigEndian.PutUint32(b[1:], uint32(len(b)-messagePrefix))
	return framer.WriteData(1, false, b)
}

// cutMessage returns the first message of a stream if all of it is there.
func cutMessage(b []byte) (message, rest []byte, ok bool) {
	if len(b) < messagePrefix {
		return nil, b, false
	}
	end := messagePrefix + int(binary.BigEndian.Uint32(b[1:]))
	if len(b) < end {
		return nil, b, false
	}
	return b[messagePrefix:end], b[end:], true
}
