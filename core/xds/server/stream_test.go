package server_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// oneNode returns a source in which node n has the resources.
func oneNode(resources ...*wire.Resource) *xdstest.Source {
	state := xdstest.NewState()
	state.Nodes["n"] = xdstest.Snapshot(resources...)
	return xdstest.NewSource(state)
}

// setNode publishes the resources of node n.
func setNode(s *xdstest.Source, resources ...*wire.Resource) {
	s.Edit(func(state *xdstest.State) { state.Nodes["n"] = xdstest.Snapshot(resources...) })
}

// await waits until a client holds resources of a type and no others.
func await(t *testing.T, c *xdstest.Client, k wire.Type, resources ...*wire.Resource) {
	t.Helper()
	if !settles(func() bool { return maps.Equal(contents(c, k), bodies(resources...)) }) {
		t.Fatalf("holds %d resources, wants %d; stream: %v", len(contents(c, k)), len(resources), c.Err())
	}
}

// forProtocols runs a test for both protocols, each in a bubble.
func forProtocols(t *testing.T, test func(t *testing.T, sotw bool)) {
	for _, protocol := range []struct {
		name string
		sotw bool
	}{{"delta", false}, {"sotw", true}} {
		t.Run(protocol.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, protocol.sotw) })
		})
	}
}

// awaitEnd waits until a stream ends, and checks the code.
func awaitEnd(t *testing.T, c *xdstest.Client, code codes.Code) {
	t.Helper()
	if !settles(func() bool { return c.Err() != nil }) {
		t.Fatal("the stream does not end")
	}
	if got := status.Code(c.Err()); got != code {
		t.Fatalf("the stream ends with %v, want %v", c.Err(), code)
	}
}

// A client that does not read delays no other one, and then gets the newest state.
func TestSlowReader(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		large := strings.Repeat("x", 200<<10) // more than gRPC buffers for a stream
		resource := func(i int) *wire.Resource {
			return xdstest.Resource(wire.ClusterType, "a", fmt.Sprint(i)+large)
		}
		r := start(t, server.Options{Source: oneNode(resource(0))})
		slow := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		fast := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		for _, c := range []*xdstest.Client{slow, fast} {
			must(t, c.Wildcard(wire.ClusterType))
			await(t, c, wire.ClusterType, resource(0))
		}
		slow.Freeze()
		const last = 40
		for i := 1; i <= last; i++ {
			setNode(r.source, resource(i))
			await(t, fast, wire.ClusterType, resource(i))
		}
		if got := r.NodeState("n"); got != server.Pending {
			t.Errorf("the node is %v, want pending", got)
		}
		slow.Thaw()
		await(t, slow, wire.ClusterType, resource(last))
		if n := len(slow.Responses()); n > 5 {
			t.Errorf("the slow client got %d responses, want only those in flight and the newest", n)
		}
	})
}

// The first request after a reconnection has the versions of all that a client holds.
func TestLargeRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var resources []*wire.Resource
		for i := range 30_000 {
			resources = append(resources, xdstest.Resource(wire.EndpointType, fmt.Sprintf("%0180d", i), "1"))
		}
		r := start(t, server.Options{Source: oneNode(resources...)})
		c := r.client(t, xdstest.Options{Node: node("n")})
		must(t, c.Wildcard(wire.EndpointType))
		await(t, c, wire.EndpointType, resources...)
		c.Close()

		again := r.client(t, xdstest.Options{Node: node("n"), Resume: c})
		if !settles(func() bool { return len(again.Responses()) > 0 }) {
			t.Fatal("no response", again.Err())
		}
		if got := len(again.Responses()[0].Resources); got != 0 {
			t.Errorf("%d resources are sent again", got)
		}
	})
}

// Clients of gRPC take 4 MiB. Delta responses are split below it, each after the ACK of
// the one before.
func TestResponsesAreSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var resources []*wire.Resource
		for i := range 10 {
			resources = append(resources, xdstest.Resource(wire.ClusterType, fmt.Sprint(i), strings.Repeat("x", 1<<20)))
		}
		r := start(t, server.Options{Source: oneNode(resources...)})
		c := r.client(t, xdstest.Options{Node: node("n")})
		must(t, c.Wildcard(wire.ClusterType))
		await(t, c, wire.ClusterType, resources...)
		for _, response := range c.Responses() {
			size := 0
			for _, r := range response.Resources {
				size += len(r.Body)
			}
			if size == 0 || size > 4<<20 {
				t.Errorf("a response has %d bytes of resources", size)
			}
		}
		if n := len(c.Responses()); n != 4 {
			t.Errorf("%d responses, want 4 with at most 3 resources", n)
		}
	})
}

// Variants count in the size of a response as resources do.
func TestResponsesOfVariantsAreSplit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := xdstest.NewState()
		var locators []xdstest.Locator
		for i := range 10 {
			name := fmt.Sprint(i)
			locators = append(locators, xdstest.Locator{Name: name, Parameters: map[string]string{"env": "prod"}})
			state.Variants[xdstest.Name{Type: wire.ClusterType, Name: name}] = []wire.Variant{
				xdstest.Variant(xdstest.Resource(wire.ClusterType, name, strings.Repeat("x", 1<<20)), ""),
			}
		}
		r := start(t, server.Options{Source: xdstest.NewSource(state)})
		c := r.client(t, xdstest.Options{})
		must(t, c.SubscribeLocators(wire.ClusterType, locators...))
		synctest.Wait()
		var sizes []int
		for _, response := range c.Responses() {
			sizes = append(sizes, len(response.Resources))
		}
		if fmt.Sprint(sizes) != "[3 3 3 1]" {
			t.Errorf("the responses have %v variants of 1 MiB, want 3 at most", sizes)
		}
	})
}

// A resource that is larger than a response should be is sent, alone.
func TestLargeResource(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		large := xdstest.Resource(wire.EndpointType, "a", strings.Repeat("x", 5<<20))
		small := xdstest.Resource(wire.EndpointType, "b", "1")
		r := start(t, server.Options{Source: oneNode(large, small)})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, c.Subscribe(wire.EndpointType, "a", "b"))
		await(t, c, wire.EndpointType, large, small)
	})
}

// A state of the world whose resources exceed the size of a response has its errors too.
func TestErrorsOfLargeState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large := xdstest.Resource(wire.ClusterType, "a", strings.Repeat("x", 5<<20))
		r := start(t, server.Options{Source: oneNode(large)})
		c := r.client(t, xdstest.Options{StateOfTheWorld: true, Node: node("n")})
		must(t, c.Subscribe(wire.ClusterType, "a", "missing"))
		await(t, c, wire.ClusterType, large)
		if code, _ := c.Error(wire.ClusterType, "missing"); code != codes.NotFound || len(c.Responses()) != 1 {
			t.Errorf("the missing name has the error %v after %d responses", code, len(c.Responses()))
		}
	})
}

// Later states share what has not changed. What has is sent, whether a wildcard selects it or
// not.
func TestStatesShareSlices(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		of := func(name, content string) *wire.Resource { return xdstest.Resource(wire.EndpointType, name, content) }
		snapshot := xdstest.WithNamed(xdstest.Snapshot(of("listed", "1")), of("named", "1"))
		state := xdstest.NewState()
		state.Nodes["n"] = snapshot
		r := start(t, server.Options{Source: xdstest.NewSource(state)})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, c.Subscribe(wire.EndpointType, "listed", "named"))
		await(t, c, wire.EndpointType, of("listed", "1"), of("named", "1"))
		edit := func(change func(*wire.Resources)) {
			next := *snapshot
			change(&next[wire.EndpointType])
			snapshot = &next
			r.source.Edit(func(s *xdstest.State) { s.Nodes["n"] = snapshot })
		}
		edit(func(r *wire.Resources) { r.Named = []*wire.Resource{of("named", "2")} })
		await(t, c, wire.EndpointType, of("listed", "1"), of("named", "2"))
		edit(func(r *wire.Resources) { r.Listed = []*wire.Resource{of("listed", "2")} })
		await(t, c, wire.EndpointType, of("listed", "2"), of("named", "2"))
	})
}

// In state of the world, the error of a name or of a locator repeats what the client holds of
// the name. That counts in the size of the response: gRPC clients take 4 MiB.
func TestRepeatedResourcesAreSplit(t *testing.T) {
	const n = 10
	large := strings.Repeat("x", 1<<20)
	locator := func(name, env string) xdstest.Locator {
		return xdstest.Locator{Name: name, Parameters: map[string]string{"env": env}}
	}
	for _, test := range []struct {
		what            string
		named, variants string // the contents; empty: there are none
		ask             func(c *xdstest.Client, name string) error
		variantsGo      bool
	}{
		{"variants go", large, "1", nil, true},
		{"locators without a variant", large, "", func(c *xdstest.Client, name string) error {
			return c.SubscribeLocators(wire.EndpointType, locator(name, "test"))
		}, false},
		{"names that are missing", "", large, func(c *xdstest.Client, name string) error { return c.Subscribe(wire.EndpointType, name) }, false},
	} {
		t.Run(test.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := xdstest.NewState()
				var resources []*wire.Resource
				for i := range n {
					name := fmt.Sprint(i)
					if test.named != "" {
						resources = append(resources, xdstest.Resource(wire.EndpointType, name, test.named))
					}
					if test.variants != "" {
						state.Variants[xdstest.Name{Type: wire.EndpointType, Name: name}] = []wire.Variant{xdstest.Variant(xdstest.Resource(wire.EndpointType, name, test.variants), "")}
					}
				}
				state.Nodes["n"] = xdstest.Snapshot(resources...)
				r := start(t, server.Options{Source: xdstest.NewSource(state)})
				c := r.client(t, xdstest.Options{StateOfTheWorld: true, Node: node("n")})
				for i := range n {
					if test.named != "" {
						must(t, c.Subscribe(wire.EndpointType, fmt.Sprint(i)))
					}
					if test.variants != "" {
						must(t, c.SubscribeLocators(wire.EndpointType, locator(fmt.Sprint(i), "prod")))
					}
					synctest.Wait()
				}
				before := len(c.Responses())
				c.Freeze() // the server gets most of what follows before it answers
				if test.variantsGo {
					r.source.Edit(func(s *xdstest.State) { clear(s.Variants) })
				} else {
					for i := range n {
						must(t, test.ask(c, fmt.Sprint(i)))
					}
				}
				synctest.Wait()
				c.Thaw()
				synctest.Wait()
				failed := map[string]bool{}
				for _, response := range c.Responses()[before:] {
					size := 0
					for _, r := range response.Resources {
						size += len(r.Body)
					}
					if size > 4<<20 {
						t.Errorf("a response has %d bytes of resources", size)
					}
					for name := range response.Errors {
						failed[name] = true
					}
				}
				if len(failed) != n {
					t.Errorf("%d names have an error, want %d", len(failed), n)
				}
				await(t, c, wire.EndpointType, resources...)
			})
		})
	}
}

// Locators are all chosen, however many there are, and chosen again for each state.
func TestHundredsOfLocators(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		var locators []xdstest.Locator
		for i := range 300 {
			locators = append(locators, xdstest.Locator{Name: fmt.Sprint(i), Parameters: map[string]string{"env": "prod"}})
		}
		state := func(content string) *xdstest.State {
			s := xdstest.NewState()
			for _, l := range locators {
				s.Variants[xdstest.Name{Type: wire.EndpointType, Name: l.Name}] = []wire.Variant{xdstest.Variant(xdstest.Resource(wire.EndpointType, l.Name, content), "")}
			}
			return s
		}
		r := start(t, server.Options{Source: xdstest.NewSource(state("1"))})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw})
		must(t, c.SubscribeLocators(wire.EndpointType, locators...))
		for _, content := range []string{"1", "2"} {
			r.source.Publish(state(content))
			synctest.Wait()
			for _, l := range locators {
				if got, _ := c.Located(wire.EndpointType, l); got.Body != string(xdstest.Resource(wire.EndpointType, l.Name, content).Append(nil)) {
					t.Fatalf("the client does not hold content %s of the locator of %s", content, l.Name)
				}
			}
		}
	})
}

// A turnstile is a stream whose client reads one response at a time.
type turnstile struct {
	deltaMemory
	sending, most *atomic.Int32
	pass          chan struct{}
}

func (s turnstile) SendMsg(m any) error {
	if n := s.sending.Add(1); n > s.most.Load() {
		s.most.Store(n)
	}
	defer s.sending.Add(-1)
	<-s.pass
	return s.deltaMemory.SendMsg(m)
}

// One goroutine sends at a time on a stream, as gRPC requires: what a change leads to while the
// answer to a request is being sent is sent after it.
func TestOneSends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := oneNode(xdstest.Resource(wire.ClusterType, "a", "1"), xdstest.Resource(wire.EndpointType, "a", "1"))
		m := newMemoryServer(t, source)
		ctx, cancel := context.WithCancel(t.Context())
		memory := &memoryStream[discoveryv3.DeltaDiscoveryRequest]{
			ctx: ctx, cancel: cancel, requests: make(chan *discoveryv3.DeltaDiscoveryRequest, 4), codec: m.codec, sent: &m.sent,
			ack: func(url, _, nonce string) *discoveryv3.DeltaDiscoveryRequest {
				return &discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResponseNonce: nonce}
			},
		}
		var sending, most atomic.Int32
		s := turnstile{deltaMemory{memory}, &sending, &most, make(chan struct{})}
		m.serve(func() error { return m.service.DeltaAggregatedResources(s) }, memory.end)

		memory.requests <- &discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: wire.EndpointType.URL()}
		s.pass <- struct{}{}
		synctest.Wait() // until its ACK is handled
		memory.requests <- &discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ClusterType.URL()}
		synctest.Wait() // the answer is being sent
		setNode(source, xdstest.Resource(wire.ClusterType, "a", "1"), xdstest.Resource(wire.EndpointType, "a", "2"))
		synctest.Wait()
		close(s.pass)
		synctest.Wait()
		if most.Load() != 1 || m.sent.responses.Load() < 3 {
			t.Errorf("%d goroutines send at a time, and %d responses are sent", most.Load(), m.sent.responses.Load())
		}
	})
}

// What waits is sent when the first of its waits is over: a removal no later than its
// addition that is not ACKed allows.
func TestWaitsEndWithTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait = 10 * time.Second
		cluster := func(content string) *wire.Resource { return xdstest.Resource(wire.ClusterType, "a", content) }
		listener := xdstest.Resource(wire.ListenerType, "l", "1")
		r := start(t, server.Options{Source: oneNode(cluster("1"), listener), Wait: wait})
		stream := deltaConversation(t, r.conn, t.Context())
		for _, k := range []wire.Type{wire.ClusterType, wire.ListenerType} {
			must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: k.URL()}))
			response, err := stream.Recv()
			must(t, err)
			must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: k.URL(), ResponseNonce: response.GetNonce()}))
		}
		time.Sleep(time.Minute)
		begin := time.Now()
		setNode(r.source, cluster("2"), listener)
		_, err := stream.Recv() // is not ACKed
		must(t, err)
		time.Sleep(wait / 2)
		setNode(r.source, cluster("2"))
		removal, err := stream.Recv()
		must(t, err)
		if waited := time.Since(begin); len(removal.GetRemovedResources()) != 1 || waited != wait {
			t.Errorf("%v is sent after %v, want the removal after %v", removal, waited, wait)
		}
	})
}

// A client that never ACKs delays other types and removals by Options.Wait only.
func TestWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const wait = 150 * time.Millisecond
		cluster, listener := xdstest.Resource(wire.ClusterType, "a", "1"), xdstest.Resource(wire.ListenerType, "l", "1")
		r := start(t, server.Options{Source: oneNode(cluster, listener), Wait: wait})
		stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(r.conn).DeltaAggregatedResources(t.Context())
		must(t, err)
		must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: wire.ClusterType.URL()}))
		first, err := stream.Recv()
		must(t, err)
		// The first answer in a type waits for nothing.
		must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.ListenerType.URL()}))
		second, err := stream.Recv()
		must(t, err)
		for _, r := range []*discoveryv3.DeltaDiscoveryResponse{first, second} {
			must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: r.GetTypeUrl(), ResponseNonce: r.GetNonce()}))
		}
		if !settles(func() bool { return r.NodeState("n") == server.Converged }) {
			t.Fatal("the ACKs are not handled")
		}

		begin := time.Now()
		setNode(r.source, xdstest.Resource(wire.ClusterType, "a", "2"))
		addition, err := stream.Recv() // is not ACKed
		must(t, err)
		if addition.GetTypeUrl() != wire.ClusterType.URL() || len(addition.GetResources()) != 1 {
			t.Fatalf("got %v, want the cluster", addition)
		}
		removal, err := stream.Recv()
		must(t, err)
		if got := removal.GetRemovedResources(); len(got) != 1 || got[0] != "l" {
			t.Fatalf("got %v, want the removal of l", removal)
		}
		if waited := time.Since(begin); waited != wait {
			t.Errorf("the removal is sent after %v, want %v", waited, wait)
		}
	})
}

func TestDrain(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		r := start(t, server.Options{Source: oneNode(xdstest.Resource(wire.ClusterType, "a", "1"))})
		idle := r.client(t, xdstest.Options{StateOfTheWorld: sotw})
		busy := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, busy.Wildcard(wire.ClusterType))
		if !settles(func() bool { return len(busy.Responses()) == 1 }) {
			t.Fatal("no response")
		}
		r.Drain()
		awaitEnd(t, idle, codes.Unavailable)
		awaitEnd(t, busy, codes.Unavailable)
		if got := busy.Err().Error(); !strings.Contains(got, "shutting down") {
			t.Errorf("the stream ends with %q", got)
		}
		late := r.client(t, xdstest.Options{StateOfTheWorld: sotw})
		awaitEnd(t, late, codes.Unavailable)
		stopped := false
		go func() {
			r.grpc.GracefulStop()
			stopped = true
		}()
		if !settles(func() bool { return stopped }) {
			t.Error("GracefulStop waits for streams after Drain")
		}
	})
}

// Drain ends the stream of a client that does not read too.
func TestDrainOfSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resource := func(i int) *wire.Resource {
			return xdstest.Resource(wire.ClusterType, fmt.Sprint(i), strings.Repeat("x", 1<<20))
		}
		r := start(t, server.Options{Source: oneNode(resource(0), resource(1), resource(2))})
		stream, err := discoveryv3.NewAggregatedDiscoveryServiceClient(r.conn).DeltaAggregatedResources(t.Context())
		must(t, err)
		for _, k := range []wire.Type{wire.ClusterType, wire.ListenerType} {
			must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: k.URL()}))
		}
		if !settles(func() bool { return r.NodeState("n") != server.Absent }) {
			t.Fatal("there is no stream")
		}
		r.Drain()
		if !settles(func() bool { return r.Counters().Streams[0].Load() == 0 }) {
			t.Fatal("the handler does not return")
		}
	})
}

func TestLimits(t *testing.T) {
	locator := func(parameters int) xdstest.Locator {
		l := xdstest.Locator{Name: "a", Parameters: map[string]string{}}
		for i := range parameters {
			l.Parameters[fmt.Sprint(i)] = ""
		}
		return l
	}
	tests := []struct {
		name    string
		options server.Options
		request func(*xdstest.Client) error
		refused bool
	}{
		{"as many subscriptions as the limit", server.Options{MaxSubscriptions: 2},
			func(c *xdstest.Client) error { return c.Subscribe(wire.ClusterType, "a", "b") }, false},
		{"one subscription more", server.Options{MaxSubscriptions: 2},
			func(c *xdstest.Client) error { return c.Subscribe(wire.ClusterType, "a", "b", "c") }, true},
		{"names and locators are limited together", server.Options{MaxSubscriptions: 1},
			func(c *xdstest.Client) error {
				if err := c.Subscribe(wire.ClusterType, "a"); err != nil {
					return err
				}
				return c.SubscribeLocators(wire.ClusterType, locator(0))
			}, true},
		{"as many parameters as the limit", server.Options{MaxParameters: 2},
			func(c *xdstest.Client) error { return c.SubscribeLocators(wire.ClusterType, locator(2)) }, false},
		{"one parameter more", server.Options{MaxParameters: 2},
			func(c *xdstest.Client) error { return c.SubscribeLocators(wire.ClusterType, locator(3)) }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			forProtocols(t, func(t *testing.T, sotw bool) {
				test.options.Source = oneNode()
				c := start(t, test.options).client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
				must(t, test.request(c))
				if test.refused {
					awaitEnd(t, c, codes.ResourceExhausted)
				} else if !settles(func() bool { return len(c.Responses()) > 0 }) {
					t.Error("no response", c.Err())
				}
			})
		})
	}
}

func TestStreamsOfOnePeerAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(), MaxStreamsPerPeer: 2})
		var clients []*xdstest.Client
		for range 2 {
			c := r.client(t, xdstest.Options{})
			must(t, c.Wildcard(wire.ClusterType))
			if !settles(func() bool { return len(c.Responses()) > 0 }) {
				t.Fatal("no response", c.Err())
			}
			clients = append(clients, c)
		}
		awaitEnd(t, r.client(t, xdstest.Options{}), codes.ResourceExhausted)
		clients[0].Close()
		synctest.Wait()
		c := r.client(t, xdstest.Options{})
		must(t, c.Wildcard(wire.ClusterType))
		if !settles(func() bool { return len(c.Responses()) > 0 }) {
			t.Errorf("a stream that has ended counts: %v", c.Err())
		}
	})
}

// A type that is not served is answered, so that clients do not wait for it.
func TestOtherTypes(t *testing.T) {
	const url = "type.googleapis.com/envoy.service.runtime.v3.Runtime"
	forProtocols(t, func(t *testing.T, sotw bool) {
		r := start(t, server.Options{Source: oneNode()})
		client := discoveryv3.NewAggregatedDiscoveryServiceClient(r.conn)
		if !sotw {
			stream, err := client.DeltaAggregatedResources(t.Context())
			must(t, err)
			must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResourceNamesSubscribe: []string{"x"}}))
			response, err := stream.Recv()
			must(t, err)
			if got := response.GetRemovedResources(); len(got) != 1 || got[0] != "x" || response.GetTypeUrl() != url {
				t.Errorf("got %v", response)
			}
			return
		}
		stream, err := client.StreamAggregatedResources(t.Context())
		must(t, err)
		must(t, stream.Send(&discoveryv3.DiscoveryRequest{TypeUrl: url, ResourceNames: []string{"x"}}))
		response, err := stream.Recv()
		must(t, err)
		if got := response.GetResourceErrors(); len(got) != 1 || got[0].GetResourceName().GetName() != "x" || response.GetTypeUrl() != url {
			t.Errorf("got %v", response)
		}
	})
}

// An answer about a type that is not served has, like each response, a nonce of its own and
// a version, and the client is charged for its request only until then.
func TestAnswersAboutOtherTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const url = "type.googleapis.com/envoy.service.runtime.v3.Runtime"
		a := xdstest.Resource(wire.ClusterType, "a", "1")
		r := start(t, server.Options{Source: oneNode(a)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of the bubble: Recv then ends
		defer cancel()
		stream := stateConversation(t, r.conn, ctx)
		nonces := map[string]bool{}
		answer := func(request *discoveryv3.DiscoveryRequest) {
			t.Helper()
			must(t, stream.Send(request))
			response, err := stream.Recv()
			must(t, err)
			if nonces[response.GetNonce()] || response.GetVersionInfo() == "" || response.GetTypeUrl() != request.GetTypeUrl() {
				t.Errorf("the response has the nonce %q, the version %q and the type %q", response.GetNonce(), response.GetVersionInfo(), response.GetTypeUrl())
			}
			nonces[response.GetNonce()] = true
		}
		answer(&discoveryv3.DiscoveryRequest{TypeUrl: wire.ClusterType.URL(), Node: node("n")})
		if !settles(func() bool { return r.Charged() == 0 }) {
			t.Fatalf("%d bytes are charged for a wildcard", r.Charged())
		}
		for range 3 {
			answer(&discoveryv3.DiscoveryRequest{TypeUrl: url, ResourceNames: []string{"x", "y"}})
		}
		answer(&discoveryv3.DiscoveryRequest{TypeUrl: wire.ListenerType.URL()})
		if !settles(func() bool { return r.Charged() == 0 }) {
			t.Errorf("%d bytes are charged for requests that are answered", r.Charged())
		}
	})
}

// In state of the world, an error of a locator does not say whether it is about a variant or
// about the name. So the response repeats what the client holds by that name.
func TestErrorOfLocatorKeepsName(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		a, b := xdstest.Resource(wire.EndpointType, "a", "1"), xdstest.Resource(wire.EndpointType, "b", "1")
		r := start(t, server.Options{Source: oneNode(a, b)})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, c.Subscribe(wire.EndpointType, "a", "b"))
		await(t, c, wire.EndpointType, a, b)
		must(t, c.SubscribeLocators(wire.EndpointType, xdstest.Locator{Name: "a", Parameters: map[string]string{"env": "prod"}}))
		if !settles(func() bool { return len(c.Responses()) == 2 }) {
			t.Fatal("the locator is not answered", c.Err())
		}
		last := c.Responses()[1]
		if last.Errors["a"] != codes.NotFound {
			t.Errorf("the locator has the error %v", last.Errors)
		}
		if sotw && (len(last.Resources) != 1 || last.Resources[0].Name != "a") {
			t.Errorf("the response has %v, want a again and nothing else", last.Resources)
		}
		await(t, c, wire.EndpointType, a, b)
	})
}

// The codec of the server marshals the messages of other services as usual.
func TestOtherServices(t *testing.T) {
	codec := server.NewCodec()
	in := &discoveryv3.DiscoveryRequest{TypeUrl: "a"}
	data, err := codec.Marshal(in)
	must(t, err)
	out := &discoveryv3.DiscoveryRequest{}
	must(t, codec.Unmarshal(data, out))
	if out.GetTypeUrl() != "a" || codec.Name() != "proto" {
		t.Errorf("%s: %v", codec.Name(), out)
	}
}

// A delta request may change names and locators at once, as many of each.
func TestRequestsOfNamesAndLocators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode()})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of the bubble: Recv then ends
		defer cancel()
		stream := deltaConversation(t, r.conn, ctx)
		must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: wire.EndpointType.URL(), Node: node("n"), ResourceNamesSubscribe: []string{"first"}}))
		_, err := stream.Recv()
		must(t, err)
		subscribed := func() int64 { return r.Counters().Subscriptions[wire.EndpointType].Load() }
		before := subscribed()
		locators := []*discoveryv3.ResourceLocator{{Name: "b", DynamicParameters: map[string]string{"env": "prod"}}}
		for _, step := range []struct {
			request *discoveryv3.DeltaDiscoveryRequest
			want    int64 // more subscriptions than before
		}{
			{&discoveryv3.DeltaDiscoveryRequest{ResourceNamesSubscribe: []string{"a"}, ResourceLocatorsSubscribe: locators}, 2},
			{&discoveryv3.DeltaDiscoveryRequest{ResourceNamesUnsubscribe: []string{"a"}, ResourceLocatorsUnsubscribe: locators}, 0},
		} {
			step.request.TypeUrl = wire.EndpointType.URL()
			must(t, stream.Send(step.request))
			if !settles(func() bool { return subscribed()-before == step.want }) {
				t.Errorf("after %v there are %d subscriptions more, want %d", step.request, subscribed()-before, step.want)
			}
		}
	})
}

// A request with another locator, or with one less, changes the subscription, although its
// names are the same.
func TestLocatorsAreExchanged(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		a := xdstest.Resource(wire.EndpointType, "a", "1")
		r := start(t, server.Options{Source: oneNode(a)})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, c.Subscribe(wire.EndpointType, "a"))
		await(t, c, wire.EndpointType, a)
		subscribes := func(n int64) {
			t.Helper()
			if !settles(func() bool { return r.Counters().Subscriptions[wire.EndpointType].Load() == n }) {
				t.Errorf("%d subscriptions, want %d", r.Counters().Subscriptions[wire.EndpointType].Load(), n)
			}
		}
		locator := xdstest.Locator{Name: "b", Parameters: map[string]string{"env": "prod"}}
		must(t, c.SubscribeLocators(wire.EndpointType, locator))
		subscribes(2)
		must(t, c.UnsubscribeLocators(wire.EndpointType, locator))
		subscribes(1)
	})
}

// Of a type that is not served, each subscription is answered once: an ACK of the answer and
// the end of the subscription are not.
func TestAnswersAboutOtherTypesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const url, other = "type.googleapis.com/envoy.service.runtime.v3.Runtime", "type.googleapis.com/other"
		r := start(t, server.Options{Source: oneNode()})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // of the bubble: Recv then ends
		defer cancel()
		stream := deltaConversation(t, r.conn, ctx)
		send := func(request *discoveryv3.DeltaDiscoveryRequest) { t.Helper(); must(t, stream.Send(request)) }
		answered := func(url string) (nonce string) {
			t.Helper()
			response, err := stream.Recv()
			must(t, err)
			if response.GetTypeUrl() != url {
				t.Errorf("the next response is about %s, want %s", response.GetTypeUrl(), url)
			}
			return response.GetNonce()
		}
		send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, Node: node("n"), ResourceNamesSubscribe: []string{"x"}})
		send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResponseNonce: answered(url)})
		send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResourceNamesUnsubscribe: []string{"x"}})
		send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: other}) // a wildcard
		answered(other)
		send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: other, ResourceNamesUnsubscribe: []string{"x"}, ResourceNamesSubscribe: []string{"y"},
			ResourceLocatorsSubscribe: []*discoveryv3.ResourceLocator{{Name: "z"}}})
		answered(other)
	})
}

// If a node waits, and its dataplane then has a name for a moment only, the client is told that the name does
// not exist, though it was never sent: it may have it from an earlier stream.
func TestWaitingNameComesAndGoes(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		r := start(t, server.Options{Source: xdstest.NewSource(xdstest.NewState())})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, c.Subscribe(wire.EndpointType, "a"))
		synctest.Wait()
		c.Freeze()
		for _, name := range []string{"b", "c"} { // it still reads the first response, and the second one stays in flight
			must(t, c.Subscribe(wire.EndpointType, name))
			synctest.Wait()
		}
		for _, name := range []string{"a", "other"} {
			r.source.Edit(func(s *xdstest.State) {
				s.Nodes["n"] = xdstest.Snapshot(xdstest.Resource(wire.EndpointType, name, "1"))
			})
			synctest.Wait()
		}
		c.Thaw()
		synctest.Wait()
		if code, _ := c.Error(wire.EndpointType, "a"); code != codes.NotFound {
			t.Errorf("the error of the name is %v", code)
		}
	})
}
