package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// An owner makes the requests of a session, and applies the responses. Its methods are called
// with Relay.mu.
type owner interface {
	// node returns the node of the first request.
	node() *corev3.Node
	// begin is called when a stream begins: everything is requested again.
	begin(*session)
	// requests returns what is to be sent.
	requests() []*discoveryv3.DeltaDiscoveryRequest
	// apply applies a response, and returns what is wrong with it.
	apply(*verified) []string
}

// A session is one stream to the upstream. A goroutine receives, verifies and applies. Another
// one sends, while there is something to send. So a stream that the upstream does not read delays
// no response, and a session that rests has one goroutine.
type session struct {
	relay   *Relay
	owner   owner
	stream  discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesClient
	cancel  context.CancelFunc // ends the stream
	senders sync.WaitGroup

	// Guarded by Relay.mu.
	acks           []*discoveryv3.DeltaDiscoveryRequest
	woken, sending bool
	begun, ended   bool // the first request was sent; none is sent any more
	failed         error
	// rejections are by type; the last one is of all types that are not known.
	rejections [wire.NumTypes + 1]rejection
}

// A rejection is about the responses of a type with something wrong.
type rejection struct {
	inARow int // the receiver has it
	// held is the newest NACK, which waits for the timer. Guarded by Relay.mu.
	held  *discoveryv3.DeltaDiscoveryRequest
	timer *time.Timer
}

// maxAcks limits what waits for an upstream that sends and does not read.
const maxAcks = 1000

// wake makes the session send the requests of its owner. It is called with Relay.mu. S may be nil.
func (s *session) wake() {
	if s == nil || s.ended {
		return
	}
	if s.woken = true; !s.sending {
		s.sending = true
		s.senders.Go(s.send)
	}
}

// end returns when nothing is sent any more, with the error of that.
func (s *session) end() error {
	s.cancel()
	s.relay.mu.Lock()
	s.ended = true
	s.relay.mu.Unlock()
	s.senders.Wait()
	return s.failed
}

// The first and the longest pause between two attempts. Each pause is random, between half
// of the time and all of it.
const (
	firstBackoff = 200 * time.Millisecond
	maxBackoff   = 30 * time.Second
)

// A backoff is the time to wait before the next attempt.
type backoff struct{ next time.Duration }

// wait waits, and reports whether the context is still alive.
func (b *backoff) wait(ctx context.Context) bool {
	b.next = min(max(firstBackoff, 2*b.next), maxBackoff)
	select {
	case <-time.After(b.next/2 + rand.N(b.next/2)):
		return true
	case <-ctx.Done():
		return false
	}
}

// keepSession opens streams for an owner until the context ends, or the connection is lost.
func (r *Relay) keepSession(ctx context.Context, u attached, o owner) {
	var pause backoff
	both, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(u.connected, cancel)()
	for both.Err() == nil {
		responded, err := r.runSession(ctx, u, o)
		r.noteRefusedPings(u.address, err)
		if both.Err() != nil {
			return
		}
		r.log.Warn("a stream to the upstream ended", "error", clip(err.Error(), maxLogged))
		if responded {
			pause = backoff{}
		}
		if _, shared := o.(*locators); isRefusal(err) && (shared || r.options.Mode == Nodes) { // not of one client
			u.refused.Add(1)
		}
		if !pause.wait(both) {
			return
		}
	}
}

// isRefusal reports whether a stream ended because the upstream has no ADS, or does not serve
// the relay.
func isRefusal(err error) bool {
	switch status.Code(err) {
	case codes.Unimplemented, codes.Unauthenticated, codes.PermissionDenied:
		return true
	}
	return false
}

const maxLogged = 1 << 10

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:most]
}

// runSession runs one stream, and reports whether the upstream has sent a valid response on it.
func (r *Relay) runSession(ctx context.Context, u attached, o owner) (responded bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(u.conn).DeltaAggregatedResources(ctx,
		grpc.MaxCallRecvMsgSize(MaxResponseBytes), grpc.MaxCallSendMsgSize(MaxResponseBytes))
	if err != nil {
		return false, err
	}
	s := &session{relay: r, owner: o, stream: stream, cancel: cancel}
	r.mu.Lock()
	o.begin(s)
	s.wake()
	r.mu.Unlock()
	r.sessions.Add(1)
	defer r.sessions.Add(-1)
	for {
		m, err := stream.Recv()
		if err == nil {
			var ok bool
			ok, err = s.receive(u.connected, m)
			responded = responded || ok
			u.refused.Store(0)
		}
		if err != nil {
			if sendErr := s.end(); sendErr != nil && !errors.Is(sendErr, io.EOF) && errors.Is(err, context.Canceled) {
				err = sendErr
			}
			return responded, err
		}
	}
}

// send sends what there is to send.
func (s *session) send() {
	r := s.relay
	r.mu.Lock()
	defer r.mu.Unlock()
	for s.woken && !s.ended {
		s.woken = false
		requests := append(s.acks, s.owner.requests()...)
		s.acks = nil
		if !s.begun && len(requests) > 0 {
			s.begun = true
			requests[0].Node = s.owner.node()
		}
		r.mu.Unlock()
		err := s.sendAll(requests)
		r.mu.Lock()
		if err != nil {
			s.failed, s.ended = err, true
			s.cancel()
		}
	}
	s.sending = false
}

func (s *session) sendAll(requests []*discoveryv3.DeltaDiscoveryRequest) error {
	for _, r := range requests {
		if err := s.stream.Send(r); err != nil {
			return err
		}
		s.relay.counters.Requests.Add(1)
		s.relay.counters.Subscribed.Add(int64(len(r.GetResourceLocatorsSubscribe()) + len(r.GetResourceNamesSubscribe())))
	}
	return nil
}

// maxProblems limits what a NACK names.
const maxProblems = 20

// The time that a NACK waits, for each response in a row with something wrong: some servers
// send it again at once.
const (
	rejectPause    = 100 * time.Millisecond
	maxRejectPause = 5 * time.Second
)

// receive applies a response, and ACKs or NACKs it. It reports whether it was right. The
// context is that of the connection.
//
// A NACK may wait, and what the upstream sends does not wait with it: after a flood of wrong
// responses comes a good one. After a wrong response the receiver rests for as long as the
// response has taken, so that a flood takes at most half of a processor.
func (s *session) receive(ctx context.Context, m *discoveryv3.DeltaDiscoveryResponse) (bool, error) {
	begin := time.Now()
	problems := s.handle(m)
	t, ok := wire.TypeOf(m.GetTypeUrl())
	if !ok {
		t = wire.NumTypes
	}
	of := &s.rejections[t]
	if len(problems) == 0 {
		of.inARow = 0
		return true, s.acknowledge(of, ackOf(m, nil), 0)
	}
	of.inARow++
	s.relay.reject(problems)
	err := s.acknowledge(of, ackOf(m, problems), min(time.Duration(of.inARow-1)*rejectPause, maxRejectPause))
	select {
	case <-time.After(time.Since(begin)):
	case <-ctx.Done():
	}
	return false, err
}

// handle applies a response, and returns what is wrong with it.
func (s *session) handle(m *discoveryv3.DeltaDiscoveryResponse) []string {
	r := s.relay
	r.counters.Responses.Add(1)
	t, ok := wire.TypeOf(m.GetTypeUrl())
	if !ok {
		return []string{fmt.Sprintf("the type %.200q was not requested", m.GetTypeUrl())}
	}
	v := r.pool.verify(t, m) // without the lock
	r.counters.Bytes.Add(int64(v.size))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastResponse = r.clock.Load()
	problems := append(v.problems, s.owner.apply(v)...)
	r.publishSoon()
	return problems
}

// reject counts and logs a response with something wrong.
func (r *Relay) reject(problems []string) {
	r.counters.Rejected.Add(1)
	r.log.Warn("a response of the upstream is rejected", "message", clip(textOf(problems), maxLogged))
}

func textOf(problems []string) string {
	return strings.Join(problems[:min(len(problems), maxProblems)], "; ")
}

// ackOf returns the ACK or the NACK of a response.
func ackOf(m *discoveryv3.DeltaDiscoveryResponse, problems []string) *discoveryv3.DeltaDiscoveryRequest {
	ack := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: m.GetTypeUrl(), ResponseNonce: m.GetNonce()}
	if len(problems) > 0 {
		ack.ErrorDetail = &rpcstatus.Status{Code: int32(codes.InvalidArgument), Message: clip(textOf(problems), 4*maxLogged)}
	}
	return ack
}

// acknowledge sends an ACK or a NACK, or holds a NACK for some time. Of the NACKs of a type that are
// held at once, only the newest one is sent. What is held goes before an ACK of its type.
func (s *session) acknowledge(of *rejection, ack *discoveryv3.DeltaDiscoveryRequest, hold time.Duration) error {
	s.relay.mu.Lock()
	defer s.relay.mu.Unlock()
	if hold > 0 {
		if of.held == nil {
			of.timer = time.AfterFunc(hold, func() {
				s.relay.mu.Lock()
				defer s.relay.mu.Unlock()
				s.release(of)
			})
		}
		of.held = ack
		return nil
	}
	s.release(of)
	if s.acks = append(s.acks, ack); len(s.acks) > maxAcks {
		return errors.New("the upstream does not read what it is sent")
	}
	s.wake()
	return nil
}

// release sends what is held, with Relay.mu.
func (s *session) release(of *rejection) {
	if of.held == nil {
		return
	}
	of.timer.Stop()
	s.acks = append(s.acks, of.held)
	of.held = nil
	s.wake()
}
