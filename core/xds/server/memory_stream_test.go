package server_test

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/metadata"
	gproto "google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A memoryStream is a stream without a network, for benchmarks: what is sent is
// marshalled by the codec of the server, counted and ACKed at once.
type memoryStream[Request any] struct {
	grpc.ServerStream
	ctx      context.Context
	cancel   context.CancelFunc
	requests chan *Request
	codec    encoding.CodecV2
	ack      func(typeURL, version, nonce string) *Request
	sent     *sentCounter
}

// sentCounter counts the responses of all streams.
type sentCounter struct{ responses, bytes atomic.Int64 }

func (s *memoryStream[R]) Context() context.Context     { return s.ctx }
func (s *memoryStream[R]) SetHeader(metadata.MD) error  { return nil }
func (s *memoryStream[R]) SendHeader(metadata.MD) error { return nil }
func (s *memoryStream[R]) SetTrailer(metadata.MD)       {}

// Recv returns the next request. A nil one is the end.
func (s *memoryStream[R]) Recv() (*R, error) {
	if r := <-s.requests; r != nil {
		return r, nil
	}
	return nil, io.EOF
}

// RecvMsg is Recv for a server that takes the bytes of requests from gRPC.
func (s *memoryStream[R]) RecvMsg(m any) error {
	r, err := s.Recv()
	if err == nil {
		server.Deliver(m, any(r).(gproto.Message))
	}
	return err
}

// end ends the stream. Its handler closes done.
func (s *memoryStream[R]) end(done <-chan struct{}) {
	s.cancel()
	select {
	case s.requests <- nil:
	case <-done:
	}
}

// SendMsg takes a response of either server.
func (s *memoryStream[R]) SendMsg(m any) error {
	buffers, err := s.codec.Marshal(m)
	if err != nil {
		return err
	}
	s.sent.bytes.Add(int64(buffers.Len()))
	var url, version, nonce string
	switch m := m.(type) {
	case *discoveryv3.DeltaDiscoveryResponse:
		url, nonce = m.GetTypeUrl(), m.GetNonce()
	case *discoveryv3.DiscoveryResponse:
		url, version, nonce = m.GetTypeUrl(), m.GetVersionInfo(), m.GetNonce()
	default:
		url, version, nonce = server.Receipt(m)
	}
	buffers.Free()
	ack := s.ack(url, version, nonce)
	select {
	case s.requests <- ack: // without the cost of waiting for the context too
	default:
		select {
		case s.requests <- ack:
		case <-s.ctx.Done():
		}
	}
	s.sent.responses.Add(1)
	return nil
}

// deltaMemory and stateMemory implement the streams of the two protocols.
type (
	deltaMemory struct {
		*memoryStream[discoveryv3.DeltaDiscoveryRequest]
	}
	stateMemory struct {
		*memoryStream[discoveryv3.DiscoveryRequest]
	}
)

func (s deltaMemory) Send(m *discoveryv3.DeltaDiscoveryResponse) error { return s.SendMsg(m) }
func (s stateMemory) Send(m *discoveryv3.DiscoveryResponse) error      { return s.SendMsg(m) }

// memoryServer is a server with memory streams.
type memoryServer struct {
	server  *server.Server // nil for others
	service discoveryv3.AggregatedDiscoveryServiceServer
	codec   encoding.CodecV2
	sent    sentCounter
	close   []func()
}

// RegisterService implements grpc.ServiceRegistrar.
func (m *memoryServer) RegisterService(_ *grpc.ServiceDesc, service any) {
	m.service = service.(discoveryv3.AggregatedDiscoveryServiceServer)
}

func newMemoryServer(b testing.TB, source server.Source) *memoryServer {
	s := server.New(server.Options{Source: source})
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		s.Run(ctx)
	}()
	m := &memoryServer{server: s, codec: server.NewCodec()}
	s.Register(m)
	b.Cleanup(func() {
		m.end()
		cancel()
		<-stopped
	})
	return m
}

// newMemoryPeer is go-control-plane's server with memory streams.
func newMemoryPeer(b testing.TB, cache cachev3.SnapshotCache) *memoryServer {
	ctx, cancel := context.WithCancel(context.Background())
	m := &memoryServer{codec: encoding.GetCodecV2(proto.Name)}
	m.service = serverv3.NewServer(ctx, cache, nil)
	b.Cleanup(func() {
		m.end()
		cancel()
	})
	return m
}

// end ends all streams.
func (m *memoryServer) end() {
	for _, c := range m.close {
		c()
	}
	m.close = nil
}

// benchTypes are what each stream subscribes: two types by wildcard, two by name.
var benchTypes = []wire.Type{wire.ClusterType, wire.EndpointType, wire.ListenerType, wire.RouteType}

// connect starts streams, each of a node of its own, which subscribe everything of
// benchTypes. Endpoints and routes are subscribed by the names.
func (m *memoryServer) connect(b testing.TB, protocol string, streams int, names map[wire.Type][]string) {
	for i := range streams {
		n := &corev3.Node{Id: fmt.Sprintf("n%d", i), UserAgentName: "envoy"}
		if protocol == "delta" {
			var requests []*discoveryv3.DeltaDiscoveryRequest
			for _, k := range benchTypes {
				requests = append(requests, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: k.URL(), ResourceNamesSubscribe: cloneNames(names[k])})
			}
			m.connectDelta(n.Id, requests...)
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		s := &memoryStream[discoveryv3.DiscoveryRequest]{
			ctx: ctx, cancel: cancel, requests: make(chan *discoveryv3.DiscoveryRequest, 4), codec: m.codec, sent: &m.sent,
			ack: func(url, version, nonce string) *discoveryv3.DiscoveryRequest {
				k, _ := wire.TypeOf(url)
				return &discoveryv3.DiscoveryRequest{TypeUrl: url, ResponseNonce: nonce, VersionInfo: version, ResourceNames: names[k]}
			},
		}
		for _, k := range benchTypes {
			s.requests <- &discoveryv3.DiscoveryRequest{Node: n, TypeUrl: k.URL(), ResourceNames: cloneNames(names[k])}
			n = nil
		}
		m.serve(func() error { return m.service.StreamAggregatedResources(stateMemory{s}) }, s.end)
	}
	m.wait(b, int64(streams*len(benchTypes)))
}

// connectDelta starts a stream of a node that sends the requests.
func (m *memoryServer) connectDelta(id string, requests ...*discoveryv3.DeltaDiscoveryRequest) {
	ctx, cancel := context.WithCancel(context.Background())
	s := &memoryStream[discoveryv3.DeltaDiscoveryRequest]{
		ctx: ctx, cancel: cancel, requests: make(chan *discoveryv3.DeltaDiscoveryRequest, 4), codec: m.codec, sent: &m.sent,
		ack: func(url, _, nonce string) *discoveryv3.DeltaDiscoveryRequest {
			return &discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResponseNonce: nonce}
		},
	}
	requests[0].Node = &corev3.Node{Id: id, UserAgentName: "envoy"}
	for _, r := range requests {
		s.requests <- r
	}
	m.serve(func() error { return m.service.DeltaAggregatedResources(deltaMemory{s}) }, s.end)
}

// cloneNames returns strings of their own, as a request has them.
func cloneNames(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, string([]byte(n)))
	}
	return out
}

func (m *memoryServer) serve(handle func() error, end func(done <-chan struct{})) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = handle()
	}()
	m.close = append(m.close, func() {
		end(done)
		<-done
	})
}
