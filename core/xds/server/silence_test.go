package server_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A rawState is a stream of state of the world whose requests a test writes.
type rawState struct {
	t      *testing.T
	stream discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesClient
	got    chan *discoveryv3.DiscoveryResponse
}

func newRawState(t *testing.T, r *running) *rawState {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(r.conn).StreamAggregatedResources(ctx)
	must(t, err)
	s := &rawState{t, stream, make(chan *discoveryv3.DiscoveryResponse, 100)}
	go func() {
		for {
			m, err := stream.Recv()
			if err != nil {
				return
			}
			s.got <- m
		}
	}()
	return s
}

// ask sends a request with a nonce and names, and a NACK if there are words.
func (s *rawState) ask(nonce, nack string, names ...string) {
	s.t.Helper()
	r := &discoveryv3.DiscoveryRequest{Node: node("n"), TypeUrl: wire.EndpointType.URL(), ResponseNonce: nonce, ResourceNames: names}
	if nack != "" {
		r.ErrorDetail = &rpcstatus.Status{Message: nack}
	}
	must(s.t, s.stream.Send(r))
	synctest.Wait()
}

// next returns the response that has come; nil: there is none.
func (s *rawState) next() *discoveryv3.DiscoveryResponse {
	synctest.Wait()
	select {
	case m := <-s.got:
		return m
	default:
		return nil
	}
}

// serveEndpoints serves a node with endpoints.
func serveEndpoints(t *testing.T, contents string) *running {
	state := xdstest.NewState()
	state.Nodes["n"] = endpoints(contents)
	return start(t, server.Options{Source: xdstest.NewSource(state), Drain: -1})
}

// endpoints returns the endpoints a, b, ... each with one letter as its content.
func endpoints(contents string) *wire.Snapshot {
	var list []*wire.Resource
	for i, c := range contents {
		list = append(list, xdstest.Resource(wire.EndpointType, string(rune('a'+i)), string(c)))
	}
	return xdstest.Snapshot(list...)
}

// A grpc-java before 1.66 does not answer a response of a type that it has no subscription for,
// and its next request of the type has the nonce of an earlier response.
func TestOldGRPCJava(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := serveEndpoints(t, "1")
		c := newRawState(t, r)
		c.ask("", "", "a")
		first := c.next()
		c.ask(first.GetNonce(), "", "a")
		r.source.Edit(func(s *xdstest.State) { s.Nodes["n"] = endpoints("22") })
		if c.next() == nil {
			t.Fatal("an edit is not sent")
		}
		c.ask(first.GetNonce(), "", "b") // it does not answer the second response
		m := c.next()
		if m == nil || len(m.GetResources()) != 1 {
			t.Fatalf("the new subscription is answered by %v", m)
		}
		c.ask(m.GetNonce(), "", "b")
		if state := r.NodeState("n"); state != server.Converged {
			t.Errorf("the client is %v", state)
		}
	})
}

// A request that repeats the subscription with an old nonce is ignored, as in the specification of
// xDS, and a NACK of a response is recorded although a newer one was sent in the meantime.
func TestLateAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := serveEndpoints(t, "11")
		c := newRawState(t, r)
		c.ask("", "", "a")
		first := c.next()
		c.ask("", "", "a")
		if m := c.next(); m != nil {
			t.Errorf("a repeated request is answered by %v", m)
		}
		c.ask("", "", "a", "b")
		second := c.next()
		if second == nil {
			t.Fatal("a name that the client adds before it has read the response is not answered")
		}
		c.ask(first.GetNonce(), "a: bad", "a", "b")
		c.ask(second.GetNonce(), "", "a", "b")
		if n := r.Counters().NACKs[wire.EndpointType].Load(); n != 1 {
			t.Errorf("%d NACKs are counted, want 1", n)
		}
	})
}

// A client that does not answer is silent after 15 s, gets what it is owed since, and no longer
// holds up what waits until all clients have converged. It is not silent when it answers.
func TestSilentClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := serveEndpoints(t, "1")
		c := newRawState(t, r)
		c.ask("", "", "a")
		first := c.next()
		begin := time.Now()
		acked := r.Status("n").Types["endpoints"].Acked
		r.source.Edit(func(s *xdstest.State) { s.Nodes["n"] = endpoints("2") })
		if m := c.next(); m != nil {
			t.Fatalf("a second response is in flight: %v", m)
		}
		if n, err := r.WaitConverged(t.Context(), []string{"n"}); n != 1 || err != nil {
			t.Errorf("waiting ends with %d nodes and the error %v", n, err)
		}
		if d := time.Since(begin); d < 15*time.Second || d > 20*time.Second {
			t.Errorf("it ends after %v", d)
		}
		second := c.next()
		if second == nil {
			t.Fatal("what the client is owed is not sent")
		}
		silences := r.Silences("n")
		if r.NodeState("n") != server.Silent || len(silences) != 1 || silences[0].Type != "endpoints" || !silences[0].Since.Equal(begin) {
			t.Errorf("the client is %v: %+v", r.NodeState("n"), silences)
		}
		status := r.Status("n").Types["endpoints"]
		if s := status.Silent; s == nil || !s.Equal(begin) {
			t.Errorf("its status is silent since %v", s)
		}
		if status.Acked != acked || status.Sent == acked {
			t.Errorf("it has accepted %s, and its status is %+v", acked, status)
		}
		r.source.Edit(func(s *xdstest.State) { s.Nodes["n"] = endpoints("3") })
		synctest.Wait()
		if state := r.NodeState("n"); state != server.Silent {
			t.Errorf("after another edit the client is %v", state)
		}
		c.ask(first.GetNonce(), "", "a") // too late: it is no answer to the second response
		if state := r.NodeState("n"); state != server.Silent {
			t.Errorf("after an answer to the first response the client is %v", state)
		}
		c.ask(second.GetNonce(), "", "a")
		third := c.next()
		c.ask(third.GetNonce(), "", "a")
		if state := r.NodeState("n"); state != server.Converged {
			t.Errorf("after its answer the client is %v: %+v", state, r.Silences("n"))
		}
		if status = r.Status("n").Types["endpoints"]; status.Acked != status.Sent {
			t.Errorf("after its answer its status is %+v", status)
		}
	})
}

// A client that was silent and rejects the last response is not silent any more.
func TestSilentClientRejects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := serveEndpoints(t, "1")
		c := newRawState(t, r)
		c.ask("", "", "a")
		first := c.next()
		time.Sleep(20 * time.Second)
		if state := r.NodeState("n"); state != server.Silent {
			t.Errorf("the client is %v", state)
		}
		c.ask(first.GetNonce(), "a: bad", "a")
		if state := r.NodeState("n"); state != server.Pending || len(r.Silences("n")) > 0 {
			t.Errorf("after its NACK the client is %v: %+v", state, r.Silences("n"))
		}
	})
}

// A request of the delta protocol with the nonce of an earlier response ends the wait for the answer to
// the last one too, if it has other names. One without a nonce does not: it may have been sent before.
func TestEarlierNonceInDelta(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := serveEndpoints(t, "111")
		stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(r.conn).DeltaAggregatedResources(t.Context())
		must(t, err)
		got := make(chan *discoveryv3.DeltaDiscoveryResponse, 10)
		go func() {
			for m, err := stream.Recv(); err == nil; m, err = stream.Recv() {
				got <- m
			}
		}()
		ask := func(nonce string, names ...string) *discoveryv3.DeltaDiscoveryResponse {
			t.Helper()
			must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: wire.EndpointType.URL(), ResponseNonce: nonce, ResourceNamesSubscribe: names}))
			synctest.Wait()
			select {
			case m := <-got:
				return m
			default:
				return nil
			}
		}
		first := ask("", "a")
		ask(first.GetNonce())
		r.source.Edit(func(s *xdstest.State) { s.Nodes["n"] = endpoints("211") })
		if synctest.Wait(); len(got) != 1 {
			t.Fatal("an edit is not sent")
		}
		second := <-got
		if m := ask("", "b"); m != nil {
			t.Errorf("while a response is in flight, a name is answered by %v", m)
		}
		third := ask(first.GetNonce(), "c")
		if len(third.GetResources()) != 2 {
			t.Fatalf("a name that comes with an earlier nonce is answered by %v", third)
		}
		ask(second.GetNonce())
		ask(third.GetNonce())
		if state := r.NodeState("n"); state != server.Converged {
			t.Errorf("after its answers the client is %v", state)
		}
	})
}
