package serve_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// worldClient is a model that connects again whenever its stream ends.
type worldClient struct {
	model *xdstest.Model
	rand  *rand.Rand
	at    atomic.Int64 // its site
	move  chan struct{}
	stops atomic.Bool // with the next move, for longer than a relay follows a node without streams
}

// dialOnce returns a connection to a site that is not made again, so that gRPC never waits for the
// network while it holds a lock: a bubble does not take that for waiting.
func (w *world) dialOnce(at int64, seed uint64) (*grpc.ClientConn, error) {
	var used atomic.Bool
	s := w.sites[at]
	return grpc.NewClient("passthrough:"+s.name, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithIdleTimeout(0),
		xdstest.Delayed(seed, w.longest), grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			if used.Swap(true) {
				return nil, errDown
			}
			return s.dial(ctx)
		}))
}

// longest returns the longest delay of a response.
func (w *world) longest() time.Duration { return time.Duration(w.delay.Load()) }

func (c *worldClient) run(w *world, seed uint64) {
	defer c.model.Close()
	for w.ctx.Err() == nil {
		conn, err := w.dialOnce(c.at.Load(), seed)
		if err == nil {
			if err = c.model.Connect(conn); err == nil {
				select {
				case <-c.model.Done():
				case <-c.move:
				case <-w.ctx.Done():
				}
				c.model.Close()
			}
			_ = conn.Close()
		}
		if c.stops.Swap(false) {
			w.wait(15 * time.Second)
		}
		if !w.again(c.rand) {
			return
		}
	}
}

// worldLocator is a client by locator, for several dataplanes. On each stream it begins anew.
type worldLocator struct {
	parameters []map[string]string
	at         atomic.Int64
	move       chan struct{}

	mu       sync.Mutex
	client   *xdstest.Client
	problems []string // of streams that have ended
}

// worldLocatorTypes are the types that clients ask for by locator.
var worldLocatorTypes = []wire.Type{wire.ClusterType, wire.EndpointType, wire.RouteType}

func (l *worldLocator) locators() (all []xdstest.Locator) {
	for _, p := range l.parameters {
		all = append(all, xdstest.Locator{Name: "default/web", Parameters: p}, xdstest.Locator{Name: "default/api", Parameters: p})
	}
	return all
}

func (l *worldLocator) run(w *world, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 5))
	for w.ctx.Err() == nil {
		conn, err := w.dialOnce(l.at.Load(), seed)
		if err == nil {
			if err = l.stream(w, conn); err == nil {
				l.overlaps()
			}
			_ = conn.Close()
		}
		if !w.again(random) {
			return
		}
	}
}

// stream runs one stream.
func (l *worldLocator) stream(w *world, conn *grpc.ClientConn) error {
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	c, err := xdstest.New(ctx, conn, xdstest.Options{})
	if err != nil {
		return err
	}
	defer c.Close()
	for _, t := range worldLocatorTypes {
		_ = c.SubscribeLocators(t, l.locators()...) // an error ends the stream
	}
	l.mu.Lock()
	l.client = c
	l.mu.Unlock()
	go func() {
		select {
		case <-l.move:
			cancel()
		case <-ctx.Done():
		}
	}()
	c.Wait(ctx, func() bool { return c.Err() != nil })
	return nil
}

// overlaps notes what was wrong with variants on the stream.
func (l *worldLocator) overlaps() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range worldLocatorTypes {
		l.problems = append(l.problems, xdstest.Overlaps(l.client.Responses(), t, l.locators())...)
	}
}

// check returns what is wrong with what the client holds, and was with what it held.
func (l *worldLocator) check(e server.State) []string {
	l.overlaps()
	l.mu.Lock()
	defer l.mu.Unlock()
	problems := l.problems
	l.problems = nil
	for _, t := range worldLocatorTypes {
		for _, locator := range l.locators() {
			want := ""
			v, _ := e.Locate(&server.Node{}, t, locator.Name, locator.Parameters)
			if v.Resource != nil {
				want = string(v.Resource.Append(nil))
			}
			if got, _ := l.client.Located(t, locator); got.Body != want || got.Constraints != v.Constraints {
				problems = append(problems, fmt.Sprintf("%s %v: it holds %q, want %q", t, locator, got.Body, want))
			}
		}
	}
	return problems
}
