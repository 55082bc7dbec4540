package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

func TestStatusAndConvergence(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		good, bad := xdstest.Resource(wire.ClusterType, "a", "good"), xdstest.Resource(wire.ClusterType, "a", "bad")
		b := xdstest.Resource(wire.ClusterType, "b", "1")
		r := start(t, server.Options{Source: oneNode(good, b)})
		if got := r.NodeState("n"); got != server.Absent {
			t.Errorf("without a stream the node is %v", got)
		}
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n"), Reject: func(h xdstest.Held) string {
			if strings.Contains(h.Body, "bad") {
				return "is bad"
			}
			return ""
		}})
		must(t, c.Wildcard(wire.ListenerType))
		must(t, c.Wildcard(wire.ClusterType))
		converged := func(want int) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			n, err := r.WaitConverged(ctx, []string{"n"})
			if n != want || (err == nil) != (want == 1) || want == 0 && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%d nodes have converged, want %d; %v", n, want, err)
			}
		}
		converged(1)
		if n := testing.AllocsPerRun(100, func() { r.NodeState("n") }); n > 0 {
			t.Errorf("NodeState, which a relay asks of each node in each second, makes %v allocations", n)
		}
		s := r.Status("n")
		clusters := s.Types["clusters"]
		if !s.Converged || len(s.Streams) != 1 || clusters.Sent == "" || clusters.Sent != clusters.Acked || clusters.NACK != nil {
			t.Errorf("after an ACK: %+v", s)
		}

		setNode(r.source, bad, b)
		if !settles(func() bool { return r.Status("n").Types["clusters"].NACK != nil }) {
			t.Fatal("the NACK is not in the status")
		}
		converged(0)
		s = r.Status("n")
		clusters = s.Types["clusters"]
		if s.Converged || clusters.Sent == clusters.Acked || clusters.Acked == "" || clusters.NACK == nil { // b is accepted
			t.Fatalf("after a NACK: %+v", s)
		}
		if n := clusters.NACK; n.Message != "a: is bad" || len(n.Resources) != 1 || n.Resources[0] != "a" || time.Since(n.At) > time.Minute {
			t.Errorf("after a NACK: %+v", n)
		}
		if got := r.Counters().NACKs[wire.ClusterType].Load(); got != 1 {
			t.Errorf("%d NACKs are counted", got)
		}

		setNode(r.source, good, b)
		converged(1)
		if s := r.Status("n"); !s.Converged || s.Types["clusters"].NACK != nil {
			t.Errorf("after an ACK of other content: %+v", s)
		}
	})
}

// A client rejects permissions, which is an extension. It keeps the last ones that it accepted
// and is not sent the same ones again; the status has its reason until it accepts others
// (SPEC 11.8, 12.3).
func TestRejectedExtension(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		of := func(content string) *wire.Resource {
			return xdstest.Resource(wire.ExtensionType, "permission/in", content)
		}
		listener := xdstest.Resource(wire.ListenerType, "in", "1")
		r := start(t, server.Options{Source: oneNode(listener, of("good"))})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n"), Reject: func(h xdstest.Held) string {
			if strings.Contains(h.Body, "bad") {
				return "is bad"
			}
			return ""
		}})
		must(t, c.Wildcard(wire.ClusterType))
		must(t, c.Wildcard(wire.ListenerType))
		must(t, c.Subscribe(wire.ExtensionType, "permission/in"))
		await(t, c, wire.ExtensionType, of("good"))
		if !settles(func() bool { return r.NodeState("n") == server.Converged }) {
			t.Fatalf("with its extension the node is %v", r.NodeState("n"))
		}

		setNode(r.source, listener, of("bad"))
		if !settles(func() bool { return r.Status("n").Types["extensions"].NACK != nil }) {
			t.Fatal("the NACK is not in the status")
		}
		if s := r.Status("n"); s.Converged || s.Types["extensions"].NACK.Message != "permission/in: is bad" || s.Types["extensions"].Sent == s.Types["extensions"].Acked {
			t.Errorf("after a NACK: %+v", s)
		}
		await(t, c, wire.ExtensionType, of("good"))
		sent := r.Counters().Pushes[wire.ExtensionType].Load()

		changed := xdstest.Resource(wire.ListenerType, "in", "2")
		setNode(r.source, changed, of("bad"))
		await(t, c, wire.ListenerType, changed)
		if n := r.Counters().Pushes[wire.ExtensionType].Load(); n != sent {
			t.Errorf("what was rejected is sent again: %d responses, want %d", n, sent)
		}
		setNode(r.source, changed, of("better"))
		await(t, c, wire.ExtensionType, of("better"))
		if !settles(func() bool { return r.NodeState("n") == server.Converged }) || r.Status("n").Types["extensions"].NACK != nil {
			t.Errorf("after an ACK of other content: %+v", r.Status("n"))
		}
		if n := r.Counters().NACKs[wire.ExtensionType].Load(); n != 1 {
			t.Errorf("%d NACKs are counted", n)
		}
	})
}

// TestClientThatLacksAType subscribes to either clusters or listeners; Envoy needs both.
// The client has not converged until the time to subscribe to the other type is over.
func TestClientThatLacksAType(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		for has, lacks := range map[wire.Type]wire.Type{wire.ClusterType: wire.ListenerType, wire.ListenerType: wire.ClusterType} {
			var log lockedBuffer
			const wait = time.Hour
			connect := func() (*running, *xdstest.Client) {
				r := start(t, server.Options{
					Source: oneNode(xdstest.Resource(has, "a", "1")), Wait: wait,
					Logger: slog.New(slog.NewTextHandler(&log, nil)),
				})
				c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
				must(t, c.Wildcard(has))
				if !settles(func() bool { s := r.Status("n").Types[has.String()]; return s.Acked != "" && s.Acked == s.Sent }) {
					t.Fatalf("the %v are not accepted", has)
				}
				return r, c
			}
			r, c := connect()
			if got := r.NodeState("n"); got != server.Pending {
				t.Errorf("with %v alone the node is %v", has, got)
			}
			must(t, c.Wildcard(lacks))
			if !settles(func() bool { return r.NodeState("n") == server.Converged }) {
				t.Errorf("with %v too the node does not converge", lacks)
			}
			if log.String() != "" {
				t.Errorf("a client that has all types is logged: %s", log.String())
			}
			r, _ = connect()
			time.Sleep(wait - time.Nanosecond)
			if got := r.NodeState("n"); got != server.Pending {
				t.Errorf("before the wait is over the node is %v", got)
			}
			time.Sleep(time.Nanosecond)
			if !settles(func() bool { return r.NodeState("n") == server.Converged }) {
				t.Errorf("a client without %v does not converge", lacks)
			}
			if want := fmt.Sprintf("all %v and no %v", has, lacks); !strings.Contains(log.String(), want) {
				t.Errorf("the log has no %q: %s", want, log.String())
			}
		}
	})
}

// The time to subscribe to the other type begins again with each answer of the client: it
// may be busy with what it gets.
func TestClientThatLacksATypeIsBusy(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		const wait = time.Minute
		r := start(t, server.Options{Source: oneNode(xdstest.Resource(wire.ClusterType, "a", "1")), Wait: wait})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, c.Wildcard(wire.ClusterType))
		time.Sleep(wait - time.Second)
		setNode(r.source, xdstest.Resource(wire.ClusterType, "a", "2"))
		time.Sleep(wait - time.Second)
		if got := r.NodeState("n"); got != server.Pending {
			t.Errorf("before the wait from the last answer is over, the node is %v", got)
		}
		time.Sleep(2 * time.Second)
		if got := r.NodeState("n"); got != server.Converged {
			t.Errorf("after it, the node is %v", got)
		}
	})
}

// A node whose stream has subscribed to nothing that is served has not converged.
func TestStreamWithoutTypes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode()})
		stream := deltaConversation(t, r.conn, t.Context())
		must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: "type.googleapis.com/x.Y"}))
		_, err := stream.Recv()
		must(t, err)
		if !settles(func() bool { return r.NodeState("n") == server.Pending }) {
			t.Errorf("the node is %v", r.NodeState("n"))
		}
	})
}

func TestStatusJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got, err := json.Marshal(server.Status{
		KRI:     "n",
		Streams: []server.StreamStatus{{Since: at, Peer: "127.0.0.1:1", Protocol: "delta"}},
		Types: map[string]server.TypeStatus{"clusters": {Sent: "2", Acked: "1",
			NACK: &server.NACKStatus{Message: "no", Resources: []string{"a"}, At: at}}},
	})
	must(t, err)
	const want = `{"kri":"n","streams":[{"since":"2026-01-02T03:04:05Z","peer":"127.0.0.1:1","protocol":"delta"}],` +
		`"types":{"clusters":{"sent":"2","acked":"1","nack":{"message":"no","resources":["a"],"at":"2026-01-02T03:04:05Z"}}},"converged":false}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCounters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := xdstest.Resource(wire.EndpointType, "a", "1")
		pushes := make(chan time.Duration, 8)
		r := start(t, server.Options{Source: oneNode(a), ObservePush: func(d time.Duration) { pushes <- d }})
		c := r.client(t, xdstest.Options{Node: node("n"), Reject: func(xdstest.Held) string {
			time.Sleep(time.Second) // before it ACKs
			return ""
		}})
		must(t, c.Subscribe(wire.EndpointType, "a", "b"))
		time.Sleep(700 * time.Millisecond)
		a2 := xdstest.Resource(wire.EndpointType, "a", "2")
		setNode(r.source, a2)
		time.Sleep(time.Minute)
		await(t, c, wire.EndpointType, a2)
		counters := r.Counters()
		if got := counters.Streams[0].Load(); got != 1 || server.ProtocolNames[0] != "delta" {
			t.Errorf("%d streams of %s", got, server.ProtocolNames[0])
		}
		if got := counters.Subscriptions[wire.EndpointType].Load(); got != 2 {
			t.Errorf("%d subscriptions, want 2", got)
		}
		if got := counters.Pushes[wire.EndpointType].Load(); got != 2 {
			t.Errorf("%d pushes, want 2", got)
		}
		if got := counters.PushBytes[wire.EndpointType].Load(); got < int64(len(a.Body)+len(a2.Body)) {
			t.Errorf("%d bytes", got)
		}
		if d := <-pushes; d != 300*time.Millisecond || len(pushes) > 0 {
			t.Errorf("push times: %v and %d more; want one of 300ms, of the change", d, len(pushes))
		}
		c.Close()
		if !settles(func() bool { return counters.Streams[0].Load() == 0 }) {
			t.Fatal("the stream is still counted")
		}
		if got := counters.Subscriptions[wire.EndpointType].Load(); got != 0 {
			t.Errorf("%d subscriptions after the end", got)
		}
	})
}

// A client that unsubscribes what it rejected has accepted all that it should hold.
func TestConvergenceAfterRejectedIsUnsubscribed(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		r := start(t, server.Options{Source: oneNode(xdstest.Resource(wire.EndpointType, "a", "bad"), xdstest.Resource(wire.EndpointType, "b", "1"))})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n"), Reject: func(h xdstest.Held) string {
			if strings.Contains(h.Body, "bad") {
				return "is bad"
			}
			return ""
		}})
		must(t, c.Subscribe(wire.EndpointType, "a", "b"))
		if !settles(func() bool { return r.Status("n").Types["endpoints"].NACK != nil }) {
			t.Fatal("the NACK is not in the status")
		}
		if got := r.NodeState("n"); got != server.Pending {
			t.Errorf("after a NACK the node is %v", got)
		}
		must(t, c.Unsubscribe(wire.EndpointType, "a"))
		if !settles(func() bool { return r.NodeState("n") == server.Converged }) {
			t.Errorf("the node is %v: %+v", r.NodeState("n"), r.Status("n"))
		}
	})
}

// The line of the log about a NACK has the first ten of its resources, and how many more there
// are.
func TestLogOfNACKNamesResources(t *testing.T) {
	for _, test := range []struct {
		rejected int
		want     string
	}{
		{1, `resources=[r0]`},
		{10, `resources="[r0 r1 r2 r3 r4 r5 r6 r7 r8 r9]"`},
		{12, `resources="[r0 r1 r10 r11 r2 r3 r4 r5 r6 r7 and 2 more]"`},
	} {
		t.Run(fmt.Sprint(test.rejected), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log lockedBuffer
				var all []*wire.Resource
				for i := range test.rejected {
					all = append(all, xdstest.Resource(wire.ClusterType, fmt.Sprint("r", i), "1"))
				}
				r := start(t, server.Options{Source: oneNode(all...), Logger: slog.New(slog.NewTextHandler(&log, nil))})
				c := r.client(t, xdstest.Options{Node: node("n"), Reject: func(xdstest.Held) string { return "bad" }})
				must(t, c.Wildcard(wire.ClusterType))
				if !settles(func() bool { return strings.Contains(log.String(), "rejects") }) {
					t.Fatal("the NACK is not logged")
				}
				if !strings.Contains(log.String(), test.want) {
					t.Errorf("the log has no %s: %s", test.want, log.String())
				}
			})
		})
	}
}

// A NACK stays in the status as long as the client lacks what it rejected, even if it then
// accepts other resources.
func TestStatusKeepsNACK(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad, b := xdstest.Resource(wire.ClusterType, "a", "bad"), func(body string) *wire.Resource { return xdstest.Resource(wire.ClusterType, "b", body) }
		r := start(t, server.Options{Source: oneNode(bad, b("1"))})
		c := r.client(t, xdstest.Options{Node: node("n"), Reject: func(h xdstest.Held) string {
			if strings.Contains(h.Body, "bad") {
				return "is bad"
			}
			return ""
		}})
		must(t, c.Wildcard(wire.ClusterType))
		nack := func() bool { return r.Status("n").Types["clusters"].NACK != nil }
		if !settles(nack) {
			t.Fatal("the NACK is not in the status")
		}
		setNode(r.source, bad, b("2"))
		await(t, c, wire.ClusterType, b("2"))
		if !nack() {
			t.Error("the client accepts b, and the NACK of a is gone")
		}
		setNode(r.source, xdstest.Resource(wire.ClusterType, "a", "good"), b("2"))
		await(t, c, wire.ClusterType, xdstest.Resource(wire.ClusterType, "a", "good"), b("2"))
		if nack() {
			t.Error("the client accepts a, and the NACK is left")
		}
	})
}

// The status has what a client holds, even if it resumed with that and nothing is sent, and
// what is in flight as sent and not accepted.
func TestStatusOfTypes(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		state := xdstest.NewState()
		state.Nodes["n"] = xdstest.Snapshot(xdstest.Resource(wire.EndpointType, "a", "1"))
		state.Variants[xdstest.Name{Type: wire.EndpointType, Name: "web"}] = []wire.Variant{xdstest.Variant(xdstest.Resource(wire.EndpointType, "web", "1"), "")}
		r := start(t, server.Options{Source: xdstest.NewSource(state)})
		status := func() server.TypeStatus { synctest.Wait(); return r.Status("n").Types["endpoints"] }

		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
		must(t, c.Subscribe(wire.EndpointType, "a"))
		must(t, c.SubscribeLocators(wire.EndpointType, xdstest.Locator{Name: "web"}))
		accepted := status()
		if accepted.Sent == "" || accepted.Sent != accepted.Acked {
			t.Errorf("the client has accepted all, and the status is %+v", accepted)
		}
		c.Close()
		synctest.Wait()
		if types := r.Status("n").Types; len(types) > 0 {
			t.Errorf("without a stream, the node has %v", types)
		}

		c = r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n"), Resume: c})
		if got := status(); got != accepted {
			t.Errorf("the client has resumed, and the status is %+v, want %+v", got, accepted)
		}
		c.Freeze()
		for i := range 2 { // it takes the first response that it is reading
			setNode(r.source, xdstest.Resource(wire.EndpointType, "a", fmt.Sprint("edit", i)))
			synctest.Wait()
		}
		if got := status(); got.Sent == got.Acked || got.Acked == "" || got.Sent == accepted.Sent {
			t.Errorf("a response is in flight, and the status is %+v", got)
		}
	})
}

// While a client waits with what it has, nothing is sent and nothing is accepted.
func TestStatusOfWaitingClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode()})
		stream := stateConversation(t, r.conn, t.Context())
		must(t, stream.Send(&discoveryv3.DiscoveryRequest{Node: node("w"), TypeUrl: wire.ClusterType.URL(), VersionInfo: "7"}))
		synctest.Wait()
		s := r.Status("w")
		if got := s.Types["clusters"]; got != (server.TypeStatus{}) || len(s.Types) != 1 || s.Converged {
			t.Errorf("the status is %+v", s)
		}
	})
}

// A client that rejects a variant has not accepted it, although it has nothing else.
func TestStatusOfRejectedVariant(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		state := xdstest.NewState()
		state.Nodes["n"] = xdstest.Snapshot()
		state.Variants[xdstest.Name{Type: wire.EndpointType, Name: "web"}] = []wire.Variant{xdstest.Variant(xdstest.Resource(wire.EndpointType, "web", "1"), "")}
		r := start(t, server.Options{Source: xdstest.NewSource(state)})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n"), Reject: func(xdstest.Held) string { return "bad" }})
		must(t, c.SubscribeLocators(wire.EndpointType, xdstest.Locator{Name: "web"}))
		synctest.Wait()
		if s := r.Status("n"); s.Types["endpoints"].Acked != "" || s.Types["endpoints"].Sent == "" || s.Converged {
			t.Errorf("the status is %+v", s)
		}
	})
}

// A client that rejects a removal has not converged, and what it has accepted is not known.
func TestNACKOfRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := xdstest.Resource(wire.EndpointType, "a", "1"), xdstest.Resource(wire.EndpointType, "b", "1")
		r := start(t, server.Options{Source: oneNode(a, b)})
		stream := deltaConversation(t, r.conn, t.Context())
		url := wire.EndpointType.URL()
		must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: url}))
		answer := func(detail *rpcstatus.Status) {
			t.Helper()
			response, err := stream.Recv()
			must(t, err)
			must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResponseNonce: response.GetNonce(), ErrorDetail: detail}))
			synctest.Wait()
		}
		answer(nil)
		setNode(r.source, a)
		answer(&rpcstatus.Status{Message: "no"})
		if s := r.Status("n"); s.Converged || s.Types["endpoints"].Acked != "" || s.Types["endpoints"].NACK == nil {
			t.Errorf("after the NACK, the status is %+v", s)
		}
		setNode(r.source, a, b)
		answer(nil)
		if s := r.Status("n"); !s.Converged || s.Types["endpoints"].NACK != nil {
			t.Errorf("after an ACK, the status is %+v", s)
		}
	})
}

// A node has the streams that are open, and its id is one of NodeIDs as long as it has any.
func TestNodesOfStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode()})
		one := r.client(t, xdstest.Options{Node: node("n")})
		two := r.client(t, xdstest.Options{Node: node("n"), StateOfTheWorld: true})
		none := r.client(t, xdstest.Options{}) // has no node
		for _, c := range []*xdstest.Client{one, two, none} {
			must(t, c.Wildcard(wire.EndpointType))
		}
		has := func(streams int, ids string) {
			t.Helper()
			synctest.Wait()
			if got := r.Status("n").Streams; len(got) != streams {
				t.Errorf("the node has the streams %v, want %d", got, streams)
			}
			if got := fmt.Sprint(r.NodeIDs()); got != ids {
				t.Errorf("the nodes are %s, want %s", got, ids)
			}
		}
		has(2, "[n]")
		one.Close()
		has(1, "[n]")
		none.Close()
		two.Close()
		has(0, "[]")
	})
}

// The counter of bytes has what responses take on the wire, in both protocols and with all
// that a response may have.
func TestPushBytes(t *testing.T) {
	locator := &discoveryv3.ResourceLocator{Name: "web", DynamicParameters: map[string]string{"env": "prod"}}
	none := &discoveryv3.ResourceLocator{Name: "none"}
	forProtocols(t, func(t *testing.T, sotw bool) {
		state := xdstest.NewState()
		state.Nodes["n"] = xdstest.Snapshot(xdstest.Resource(wire.EndpointType, "a", "1"))
		name := xdstest.Name{Type: wire.EndpointType, Name: "web"}
		variants := func(content, value string) []wire.Variant {
			return []wire.Variant{xdstest.Variant(xdstest.Resource(wire.EndpointType, "web", content), `{"constraint": {"key": "env", "value": "`+value+`"}}`)}
		}
		state.Variants[name] = slices.Concat(variants("1", "prod"), variants("2", "test"))
		r := start(t, server.Options{Source: xdstest.NewSource(state)})
		size := 0
		var receive func() error // and ACKs
		names, url := []string{"a", "missing"}, wire.EndpointType.URL()
		if sotw {
			stream := stateConversation(t, r.conn, t.Context())
			request := &discoveryv3.DiscoveryRequest{Node: node("n"), TypeUrl: url, ResourceNames: names, ResourceLocators: []*discoveryv3.ResourceLocator{locator, none}}
			must(t, stream.Send(request))
			receive = func() error {
				response, err := stream.Recv()
				size += proto.Size(response)
				request.ResponseNonce, request.VersionInfo = response.GetNonce(), response.GetVersionInfo()
				must(t, stream.Send(request))
				return err
			}
		} else {
			stream := deltaConversation(t, r.conn, t.Context())
			must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: node("n"), TypeUrl: url, ResourceNamesSubscribe: names,
				ResourceLocatorsSubscribe: []*discoveryv3.ResourceLocator{locator, none}}))
			receive = func() error {
				response, err := stream.Recv()
				size += proto.Size(response)
				must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResponseNonce: response.GetNonce()}))
				return err
			}
		}
		must(t, receive())
		r.source.Edit(func(s *xdstest.State) { s.Variants[name] = slices.Concat(variants("1", "test"), variants("3", "prod")) })
		must(t, receive())
		synctest.Wait()
		if got := r.Counters().PushBytes[wire.EndpointType].Load(); got != int64(size) {
			t.Errorf("%d bytes are counted, the responses have %d", got, size)
		}
	})
}

// pushTimes has what Options.ObservePush receives.
type pushTimes struct {
	mu  sync.Mutex
	all []time.Duration
}

func (p *pushTimes) observe(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, d)
}

func (p *pushTimes) list() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all)
}

// The time from an edit to its responses is measured for each of them, even if the second one
// waits for the ACK of the first.
func TestPushTimes(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		a, b := xdstest.Resource(wire.ClusterType, "a", "1"), xdstest.Resource(wire.ClusterType, "b", "1")
		var pushes pushTimes
		r := start(t, server.Options{Source: oneNode(a), ObservePush: pushes.observe})
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n"), Reject: func(xdstest.Held) string {
			time.Sleep(time.Second) // before it ACKs
			return ""
		}})
		must(t, c.Wildcard(wire.ClusterType))
		time.Sleep(time.Minute)
		setNode(r.source, b)
		time.Sleep(time.Minute)
		await(t, c, wire.ClusterType, b)
		want := []time.Duration{0, time.Second} // the addition and the removal
		if sotw {
			want[1] = 2 * time.Second // the first response has both clusters
		}
		if got := pushes.list(); !slices.Equal(got, want) {
			t.Errorf("the responses to an edit are sent after %v, want %v", got, want)
		}
	})
}

// The time to a response is that from the first edit that it has. One that answers a request
// has none, even if an edit that does not concern the client came before.
func TestPushTimesOfSeveralEdits(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		cluster := func(content string) *wire.Resource { return xdstest.Resource(wire.ClusterType, "a", content) }
		var pushes pushTimes
		r := start(t, server.Options{Source: oneNode(cluster("1")), ObservePush: pushes.observe})
		pause := time.Duration(0)
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: node("n"), Reject: func(xdstest.Held) string {
			time.Sleep(pause) // before it ACKs
			return ""
		}})
		must(t, c.Wildcard(wire.ClusterType))
		synctest.Wait()
		r.source.Edit(func(s *xdstest.State) { s.Nodes["other"] = xdstest.Snapshot() })
		time.Sleep(time.Second)
		must(t, c.Subscribe(wire.ClusterType, "*", "x"))
		must(t, c.Subscribe(wire.EndpointType, "x"))
		synctest.Wait()
		if got := pushes.list(); len(c.Responses()) < 3 || len(got) > 0 {
			t.Errorf("%d responses to requests are pushed after %v", len(c.Responses()), got)
		}

		pause = 10 * time.Second
		for i := range 3 {
			setNode(r.source, cluster(fmt.Sprint("edit", i)))
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		if got, want := pushes.list(), []time.Duration{0, 9 * time.Second}; !slices.Equal(got, want) {
			t.Errorf("three edits are pushed after %v, want %v", got, want)
		}
	})
}
