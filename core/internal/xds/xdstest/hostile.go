package xdstest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A Hostile is a client that sends at random what no client should, for tests of what other
// clients get in the meantime: texts past the limits, many names and locators, names one by
// one, old nonces, unknown types, and rejections of anything. It may stop reading. When its
// stream ends, it opens another one; the error does not fail the test.
type Hostile struct {
	conn     grpc.ClientConnInterface
	sotw     bool
	node     *corev3.Node
	requests chan []*discoveryv3.DeltaDiscoveryRequest
	cancel   context.CancelFunc
	done     sync.WaitGroup

	mu     sync.Mutex
	nonces []string // of some responses, to be used again
	deaf   bool     // the next stream is not read
}

// longestStream limits the time of a stream, which may be stuck: the client that does not
// read cannot write for long.
const longestStream = 300 * time.Millisecond

// NewHostile starts a hostile client. Its node may be nil.
func NewHostile(conn grpc.ClientConnInterface, stateOfTheWorld bool, node *corev3.Node) *Hostile {
	ctx, cancel := context.WithCancel(context.Background())
	h := &Hostile{conn: conn, sotw: stateOfTheWorld, node: node, requests: make(chan []*discoveryv3.DeltaDiscoveryRequest, 4), cancel: cancel}
	h.done.Go(func() {
		for ctx.Err() == nil {
			h.converse(ctx)
		}
	})
	return h
}

// Close ends the client.
func (h *Hostile) Close() {
	h.cancel()
	h.done.Wait()
}

// Act sends something about a name, unless what was sent before is not sent yet.
func (h *Hostile) Act(random *rand.Rand, name string) {
	const many = 2000
	t := wire.Type(random.IntN(wire.NumTypes)).URL()
	request := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: t, Node: h.node}
	all := []*discoveryv3.DeltaDiscoveryRequest{request}
	switch random.IntN(10) {
	case 0:
		long := strings.Repeat("x", 1<<10+random.IntN(1<<20))
		switch random.IntN(4) {
		case 0:
			request.Node = &corev3.Node{Id: long}
		case 1:
			request.TypeUrl = long
		case 2:
			request.ResponseNonce = long
		case 3:
			request.ResourceNamesSubscribe = []string{name, long}
		}
	case 1:
		request.ResourceNamesSubscribe = append(MissingNames(random.IntN(many), 16), name)
	case 2:
		for _, n := range append(MissingNames(random.IntN(many), 16), name) {
			request.ResourceLocatorsSubscribe = append(request.ResourceLocatorsSubscribe, hostileLocator(random, n))
		}
	case 3:
		all = nil
		for _, n := range append(MissingNames(random.IntN(many), 16), name) {
			all = append(all, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: t, Node: h.node, ResourceNamesSubscribe: []string{n}})
		}
	case 4:
		request.ResponseNonce = h.nonce(random)
	case 5:
		request.ResponseNonce = h.nonce(random)
		request.ErrorDetail = &rpcstatus.Status{Message: name + " " + strings.Repeat("no ", random.IntN(1<<18))}
	case 6:
		request.TypeUrl = "type.googleapis.com/x." + name
		request.ResourceNamesSubscribe = MissingNames(random.IntN(many), 16)
		request.ResourceLocatorsSubscribe = []*discoveryv3.ResourceLocator{hostileLocator(random, name)}
	case 7:
		request.ResourceNamesUnsubscribe = append(MissingNames(many, 16), name, "*")
		request.ResourceLocatorsUnsubscribe = []*discoveryv3.ResourceLocator{hostileLocator(random, name)}
	case 8:
		request.InitialResourceVersions = map[string]string{name: "none"}
		for _, n := range MissingNames(random.IntN(many), 16) {
			request.InitialResourceVersions[n] = n
		}
	case 9:
		h.mu.Lock()
		h.deaf = true
		h.mu.Unlock()
		request.ResourceNamesSubscribe = append(MissingNames(many, 16), "*")
	}
	select {
	case h.requests <- all:
	default:
	}
}

// MissingNames returns names of a length that no resource has, in descending order.
func MissingNames(n, length int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("%0*d", length, n-i)
	}
	return names
}

// hostileLocator returns a locator with parameters that hold separators.
func hostileLocator(random *rand.Rand, name string) *discoveryv3.ResourceLocator {
	l := &discoveryv3.ResourceLocator{Name: name, DynamicParameters: map[string]string{"k": fmt.Sprintf("v%d", random.IntN(3))}}
	for range random.IntN(4) {
		l.DynamicParameters[strings.Repeat("\x00", random.IntN(3))] = strings.Repeat("\x00,", random.IntN(3))
	}
	return l
}

// nonce returns an earlier nonce, of any stream and type.
func (h *Hostile) nonce(random *rand.Rand) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.nonces) == 0 {
		return "0"
	}
	return h.nonces[random.IntN(len(h.nonces))]
}

// converse sends requests on a stream, until that ends.
func (h *Hostile) converse(ctx context.Context) {
	var first []*discoveryv3.DeltaDiscoveryRequest
	select {
	case first = <-h.requests:
	case <-ctx.Done():
		return
	}
	ctx, cancel := context.WithTimeout(ctx, longestStream)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer cancel()
	stream, err := open(ctx, h.conn, h.sotw)
	if err != nil {
		return
	}
	h.mu.Lock()
	deaf := h.deaf
	h.deaf = false
	h.mu.Unlock()
	if !deaf {
		reading.Go(func() {
			for {
				nonce, err := stream.nonce()
				if err != nil {
					cancel()
					return
				}
				h.mu.Lock()
				h.nonces = append(h.nonces, nonce)
				h.nonces = h.nonces[max(0, len(h.nonces)-10):]
				h.mu.Unlock()
			}
		})
	}
	for all := first; ; {
		for _, r := range all {
			if send(stream, r) != nil {
				return
			}
		}
		select {
		case all = <-h.requests:
		case <-ctx.Done():
			return
		}
	}
}

// send sends a request in the protocol of a stream.
func send(to stream, r *discoveryv3.DeltaDiscoveryRequest) error {
	if delta, ok := to.(deltaStream); ok {
		return delta.Send(r)
	}
	return to.(stateStream).Send(&discoveryv3.DiscoveryRequest{
		TypeUrl: r.TypeUrl, Node: r.Node, ResourceNames: r.ResourceNamesSubscribe, ResourceLocators: r.ResourceLocatorsSubscribe,
		VersionInfo: r.InitialResourceVersions["none"], ResponseNonce: r.ResponseNonce, ErrorDetail: r.ErrorDetail,
	})
}
