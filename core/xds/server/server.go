package server

import (
	"cmp"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/loglimit"
	"github.com/meshmatch/meshmatch/core/xds/server/internal/guard"
)

// A Server serves the states of a source by ADS.
type Server struct {
	options   Options
	log       *slog.Logger
	start     time.Time
	current   atomic.Pointer[generation]
	follow    sync.Mutex // held to replace current
	streams   streamSet
	nodes     nodeIndex
	guard     *guard.Guard
	gate      gate // of long work
	nodesGate gate // of snapshots of nodes
	longNodes gate // of those that take long
	converged convergence
	counters  Counters
	draining  atomic.Bool
	// released is set when clients no longer keep what they resumed with (SPEC 12.2).
	released atomic.Bool
}

// New returns a server that serves the newest state of the source. It follows the
// source while [Server.Run] runs. Use it with a gRPC server that has the options of
// [Server.GRPCOptions], and call [Server.Register].
func New(options Options) *Server {
	options.Wait = cmp.Or(options.Wait, defaultWait)
	options.Keep = cmp.Or(options.Keep, defaultKeep)
	options.Drain = cmp.Or(options.Drain, defaultDrain)
	options.MaxSubscriptions = cmp.Or(options.MaxSubscriptions, defaultMaxSubscriptions)
	options.MaxSubscriptionBytes = cmp.Or(options.MaxSubscriptionBytes, defaultMaxBytes)
	options.MaxTotalBytes = cmp.Or(options.MaxTotalBytes, defaultMaxTotal)
	options.MaxParameters = cmp.Or(options.MaxParameters, defaultMaxParameters)
	options.MaxStreamsPerPeer = cmp.Or(options.MaxStreamsPerPeer, defaultMaxStreams)
	options.MaxRate = cmp.Or(options.MaxRate, DefaultMaxRate)
	s := &Server{options: options, start: time.Now(), gate: newGate(), nodesGate: newNodesGate(), longNodes: newGate()}
	s.log = loglimit.New(cmp.Or(options.Logger, slog.New(slog.DiscardHandler)), &s.counters.Unlogged)
	s.streams.init()
	s.nodes.init()
	s.guard = guard.New(guard.Options{
		MaxStreams: options.MaxStreams, MaxStreamsPerPeer: options.MaxStreamsPerPeer,
		MaxSubscriptions: options.MaxSubscriptions, MaxSubscriptionBytes: options.MaxSubscriptionBytes,
		MaxTotalBytes: options.MaxTotalBytes, MaxRate: options.MaxRate,
		Identify: options.Identify, Relay: s.isRelay, Log: s.log, Refused: &s.counters.Refused, Paused: &s.counters.Paused,
	})
	s.refresh()
	return s
}

// now returns the time since the start in nanoseconds, at least 1.
func (s *Server) now() int64 { return int64(time.Since(s.start)) + 1 }

// GRPCOptions returns the options that the gRPC server needs (nil: no TLS):
//
//   - Credentials that limit connections and parallel handshakes, charge clients for partial
//     requests, and read no more of a client than Options.MaxRate.
//   - A codec that sends shared bytes.
//   - Limits on requests and headers, on streams, and on what gRPC keeps of requests that
//     are not handled yet.
//   - No read buffer over TLS, which reads a record at a time, and a small one without:
//     most of the memory of a connection would be gRPC's 32 KiB, and requests are short. Write
//     buffers are shared by all connections. Clients compress no headers, as each
//     connection has few.
//   - A keepalive that finds dead connections within a minute and closes those that have no
//     stream for another one.
//   - Options.MaxConnectionAge.
func (s *Server) GRPCOptions(transport credentials.TransportCredentials) []grpc.ServerOption {
	streams := s.options.MaxStreamsPerPeer
	if s.options.Relay != nil {
		streams *= guard.RelayFactor
	}
	buffer := 0
	if transport == nil {
		transport, buffer = insecure.NewCredentials(), readBuffer
	}
	return []grpc.ServerOption{
		grpc.Creds(s.guard.Credentials(transport)),
		grpc.ConnectionTimeout(guard.HandshakeTimeout),
		grpc.ReadBufferSize(buffer),
		grpc.HeaderTableSize(0),
		grpc.MaxConcurrentStreams(uint32(streams + spareStreams)),
		grpc.StaticStreamWindowSize(streamWindow),
		grpc.StaticConnWindowSize(connectionWindow),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.MaxRecvMsgSize(MaxRequestBytes),
		grpc.MaxHeaderListSize(maxHeaderBytes),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			Time: 30 * time.Second, Timeout: 20 * time.Second, MaxConnectionIdle: time.Minute,
			MaxConnectionAge: s.options.MaxConnectionAge, MaxConnectionAgeGrace: ageGrace,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	}
}

// Register registers the aggregated discovery service.
func (s *Server) Register(registrar grpc.ServiceRegistrar) {
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(registrar, service{server: s})
}

// service has the methods of the gRPC service, so that Server does not export them.
type service struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	server *Server
}

// DeltaAggregatedResources implements the delta protocol.
func (s service) DeltaAggregatedResources(conn discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	return serve(s.server, conn, delta, (*stream).receiveDelta)
}

// StreamAggregatedResources implements the state of the world protocol.
func (s service) StreamAggregatedResources(conn discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	return serve(s.server, conn, stateOfTheWorld, (*stream).receiveState)
}

// serve is the handler of a stream.
func serve[R any, M interface {
	*R
	proto.Message
}](s *Server, conn grpc.ServerStream, p protocol, receive func(*stream, M) error) error {
	transport := guard.ConnectionOf(conn.Context())
	defer transport.Spend(guard.StreamCost)
	st, err := s.open(conn, p, transport)
	if err != nil {
		return err
	}
	err = st.receiveAll(&reader[R, M]{receive: receive})
	if s.draining.Load() {
		err = errDraining
	}
	s.close(st, err)
	return err
}

// A requestReader has one request of a stream: as it came, and then decoded.
type requestReader interface {
	in() *inbox
	decode() error        // and drops what is in the inbox
	handle(*stream) error // called with the lock of the stream, after decode
}

// A reader is a requestReader. A stream has one, so that a request allocates nothing more.
type reader[R any, M interface {
	*R
	proto.Message
}] struct {
	inbox   inbox
	request M
	receive func(*stream, M) error
}

func (r *reader[R, M]) in() *inbox { return &r.inbox }

func (r *reader[R, M]) decode() (err error) {
	r.request, err = decode[R, M](&r.inbox)
	r.inbox.drop()
	return err
}

func (r *reader[R, M]) handle(s *stream) error {
	request := r.request
	r.request = nil // not kept while the stream waits for the next one
	return r.receive(s, request)
}

// receiveAll answers requests until the client or an error ends the stream, and returns the
// error.
func (s *stream) receiveAll(r requestReader) error {
	for {
		err := s.conn.RecvMsg(r.in())
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = s.handle(r)
		}
		if err != nil {
			if code := status.Code(err); code == codes.ResourceExhausted || code == codes.InvalidArgument {
				s.server.log.Warn("a stream ends", "node", clip(s.node.ID, maxLoggedID), "peer", s.client.Address, "error", clip(err.Error(), maxLogged/2))
			}
			return err
		}
	}
}

// handle updates the subscriptions of the stream from a request, and sends what it leads to.
func (s *stream) handle(reader requestReader) error {
	in := reader.in()
	if err := s.conn.Context().Err(); err != nil { // gRPC may return a request even so
		in.drop()
		return err
	}
	long := in.data.Len() > longRequest
	charged, err := s.read(reader, long)
	if charged > 0 {
		defer s.budget.End(charged)
	}
	if err != nil {
		in.drop()
		return err
	}
	r, err := s.answerTo(reader, long)
	if err != nil || r == nil {
		return err
	}
	return s.send(r)
}

// answerTo handles a request that was read, and returns the first response, with the right to
// send, or nil.
func (s *stream) answerTo(reader requestReader, long bool) (r *response, err error) {
	turn, err := s.acquire(long)
	defer s.release(turn)
	if err != nil {
		return nil, err
	}
	s.poked.Store(false)
	if err = reader.handle(s); err == nil {
		r = s.take()
	}
	return r, err
}

// read weighs and decodes a request. A long one is charged, and waits for its turn before its
// bytes are looked at. The result is what is charged, even with an error.
func (s *stream) read(reader requestReader, long bool) (charged int, err error) {
	in := reader.in()
	size := in.data.Len()
	if size <= maxIDBytes { // it passes no limit on a request
		return 0, reader.decode()
	}
	charge := func(bytes int) error {
		if !long {
			return nil
		}
		err := s.budget.Begin(bytes)
		if err == nil {
			charged += bytes
		}
		return err
	}
	if err := charge(size); err != nil {
		return charged, err
	}
	if long {
		if !s.pass() {
			return charged, s.conn.Context().Err()
		}
		defer s.leave()
	}
	in.join()
	weight := scale{names: s.server.options.MaxSubscriptions * s.budget.Factor(), parameters: s.server.options.MaxParameters}
	if err := weight.weigh(in.data[0].ReadOnlyData(), s.protocol); err != nil {
		return charged, err
	}
	if err := charge(weight.bytes - size); err != nil {
		return charged, err
	}
	return charged, reader.decode()
}

// open makes the stream of a call.
func (s *Server) open(conn grpc.ServerStream, p protocol, transport *guard.Connection) (*stream, error) {
	if s.draining.Load() {
		return nil, errDraining
	}
	st := &stream{server: s, id: rand.Uint32(), protocol: p, conn: conn, since: s.now(), ender: enderOf(conn.Context()), transport: transport}
	if peer, ok := peer.FromContext(conn.Context()); ok {
		st.client.Address = peer.Addr.String()
	}
	if identify := s.options.Identify; identify != nil {
		identity, err := identify(conn.Context())
		if err != nil {
			return nil, err
		}
		st.client.Identity = identity
	}
	var err error
	if st.budget, err = s.guard.Enter(st.client.peer()); err != nil {
		if status.Code(err) == codes.Unavailable {
			st.transport.Refuse()
		} else {
			s.log.Warn("a client has too many streams", "peer", st.client.Address, "identity", st.client.Identity)
		}
		return nil, err
	}
	st.transport.Count(1)
	s.streams.add(st)
	s.counters.Streams[p].Add(1)
	if s.draining.Load() { // Drain may have missed it
		st.end(errDraining)
	}
	return st, nil
}

func (s *Server) isRelay(c guard.Peer) bool {
	relay := s.options.Relay
	return relay != nil && relay(&Client{Address: c.Address, Identity: c.Identity})
}

// close ends a stream for an error, or nil. The handler returns after it.
func (s *Server) close(st *stream, err error) {
	st.close(err)
	s.streams.remove(st)
	s.nodes.remove(st)
	st.transport.Count(-1)
	s.guard.Leave(st.client.peer(), st.budget)
	s.counters.Streams[st.protocol].Add(-1)
	s.converged.wake()
}
