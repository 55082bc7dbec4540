package serve_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"golang.org/x/net/http2"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/usage"
	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// BenchmarkEditBesideAttack edits a policy while another process attacks, on the same
// processors and without TLS, so that each connection is a client. An iteration is an edit.
//
//	slowest-ms  from before the file is written until the last of 5 clients has the edit; it
//	            includes the 10 ms in which a file must not change before it is read
//	mean-ms     the same, of all edits
//	cpu-ms      processor time of the server for an edit, with what the attack takes
func BenchmarkEditBesideAttack(b *testing.B) {
	for _, attack := range attackNames {
		b.Run(attack, func(b *testing.B) { benchmarkAttack(b, attack) })
	}
}

func benchmarkAttack(b *testing.B, attack string) {
	r := startAs(&running{t: b, real: true}, map[string]string{"mesh.yaml": mesh, "timeout.yaml": timeout("1s")})
	var honest []*xdstest.Client
	for range 5 {
		c := r.client(webNode, nil)
		if err := c.Wildcard(wire.ClusterType); err != nil {
			b.Fatal(err)
		}
		r.eventually("first clusters", func() bool { return len(c.Named(wire.ClusterType)) > 0 })
		honest = append(honest, c)
	}
	process := exec.CommandContext(b.Context(), os.Args[0], "-test.run", "^TestAttackProcess$")
	process.Env = append(os.Environ(), attackVariable+"="+attack, "ATTACKED="+r.XDSAddr().String())
	process.Stderr = os.Stderr
	if err := process.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	}()
	time.Sleep(2 * time.Second) // it is a benchmark: the attack has begun, and its first allowance is spent
	var slowest, all time.Duration
	cpu := usage.CPU()
	b.ResetTimer()
	for i := range b.N {
		before := honest[0].Named(wire.ClusterType)["default/api"].Version
		begin := time.Now()
		r.write("timeout.yaml", timeout(fmt.Sprint(i+2, "s")))
		for _, c := range honest {
			r.eventually("the edit", func() bool { return c.Named(wire.ClusterType)["default/api"].Version != before || c.Err() != nil })
			if c.Err() != nil {
				b.Fatal(c.Err())
			}
		}
		slowest, all = max(slowest, time.Since(begin)), all+time.Since(begin)
	}
	b.StopTimer()
	b.ReportMetric(float64(slowest.Milliseconds()), "slowest-ms")
	b.ReportMetric(float64(all.Milliseconds())/float64(b.N), "mean-ms")
	b.ReportMetric(float64((usage.CPU()-cpu).Milliseconds())/float64(b.N), "cpu-ms")
}

const attackVariable = "MESHMATCH_ATTACK"

// attackNames are the attacks of TestAttackProcess.
var attackNames = []string{"none", "reset-streams", "reset-requests", "large-requests", "initial-versions", "window-updates", "settings", "headers", "requests", "connections"}

// TestAttackProcess is the process of BenchmarkEditBesideAttack. It attacks until it is killed.
func TestAttackProcess(t *testing.T) {
	attack, address := os.Getenv(attackVariable), os.Getenv("ATTACKED")
	if attack == "" {
		t.Skip("it is the process of a benchmark")
	}
	large := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.EndpointType.URL(), ResourceNamesSubscribe: xdstest.MissingNames(99_000, 300)}
	versions := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.EndpointType.URL(), InitialResourceVersions: map[string]string{}}
	for _, name := range xdstest.MissingNames(99_000, 20) {
		versions.InitialResourceVersions[name] = "1"
	}
	known := requestData(t, &discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: webNode}, TypeUrl: wire.ClusterType.URL()})
	var once []byte // is sent in one stream, until the server answers
	switch attack {
	case "large-requests":
		once = requestData(t, large)
	case "initial-versions":
		once = requestData(t, versions)
	}
	var attackers sync.WaitGroup
	for range 4 {
		attackers.Go(func() {
			for t.Context().Err() == nil {
				c, err := dialAttack(t.Context(), address)
				if err != nil {
					continue
				}
				for err == nil {
					switch attack {
					case "none":
						<-t.Context().Done()
					case "reset-streams":
						err = c.reset(c.open())
					case "reset-requests":
						id := c.open()
						_ = c.data(id, known)
						err = c.reset(id)
					case "large-requests", "initial-versions":
						if err = c.data(c.open(), once); err == nil {
							<-c.answered
							err = io.EOF
						}
					case "window-updates":
						err = c.WriteWindowUpdate(0, 1)
					case "settings":
						err = c.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 16})
					case "headers":
						err = c.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, c.next, bytes.Repeat([]byte{0x80 | 2}, 1200))
						c.next += 2
					case "requests":
						if c.next == 1 {
							c.open()
						}
						err = c.data(1, known)
					case "connections":
						err = io.EOF
					}
				}
				_ = c.conn.Close()
			}
		})
	}
	attackers.Wait()
}

// requestData is a request as the data of a stream.
func requestData(t *testing.T, request *discoveryv3.DeltaDiscoveryRequest) []byte {
	t.Helper()
	body, err := proto.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte{0, byte(len(body) >> 24), byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body))}, body...)
}

// An attackConn writes frames. It respects the windows of the server.
type attackConn struct {
	*http2.Framer
	conn     net.Conn
	block    []byte // the headers of a call
	next     uint32 // stream
	answered chan struct{}

	mu      sync.Mutex
	changed sync.Cond
	windows map[uint32]int // 0 is that of the connection
	closed  bool
}

func dialAttack(ctx context.Context, address string) (*attackConn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	c := &attackConn{Framer: http2.NewFramer(conn, conn), conn: conn, block: callHeaders(), next: 1, answered: make(chan struct{}), windows: map[uint32]int{0: 65_535}}
	c.changed.L = &c.mu
	if _, err = io.WriteString(conn, http2.ClientPreface); err == nil {
		err = c.WriteSettings()
	}
	go c.read()
	return c, err
}

func (c *attackConn) read() {
	answered := false
	for {
		frame, err := c.ReadFrame()
		c.mu.Lock()
		switch frame := frame.(type) {
		case *http2.WindowUpdateFrame:
			if _, ok := c.windows[frame.StreamID]; ok {
				c.windows[frame.StreamID] += int(frame.Increment)
			}
		case *http2.DataFrame, *http2.RSTStreamFrame, *http2.HeadersFrame:
			if !answered {
				answered = true
				close(c.answered)
			}
		}
		if err != nil {
			c.closed = true
			if !answered {
				close(c.answered)
			}
		}
		c.changed.Broadcast()
		c.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (c *attackConn) open() uint32 {
	id := c.next
	c.next += 2
	c.mu.Lock()
	c.windows[id] = 65_535
	c.mu.Unlock()
	_ = c.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.block, EndHeaders: true})
	return id
}

func (c *attackConn) reset(id uint32) error {
	c.mu.Lock()
	delete(c.windows, id)
	c.mu.Unlock()
	return c.WriteRSTStream(id, http2.ErrCodeCancel)
}

// data sends data within the windows of the server.
func (c *attackConn) data(id uint32, data []byte) error {
	for len(data) > 0 {
		c.mu.Lock()
		for !c.closed && min(c.windows[0], c.windows[id]) <= 0 {
			c.changed.Wait()
		}
		n := min(len(data), 16<<10, c.windows[0], c.windows[id])
		closed := c.closed
		c.windows[0] -= n
		c.windows[id] -= n
		c.mu.Unlock()
		if closed {
			return io.EOF
		}
		if err := c.WriteData(id, false, data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}
