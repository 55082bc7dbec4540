package server_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A witness is a state, and an Access, that keeps what it was last asked about.
type witness struct {
	server.State
	mu     sync.Mutex
	node   server.Node
	client server.Client
}

func (w *witness) Node(node *server.Node) (*wire.Snapshot, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.node = *node
	return w.State.Node(node)
}

// A witnessAccess allows everything.
type witnessAccess struct{ *witness }

func (w witnessAccess) Node(_ server.State, client *server.Client, _ string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.client = *client
	return true
}

func (w witnessAccess) Name(server.State, *server.Client, string) bool { return true }

func (w witnessAccess) Parameters(server.State, *server.Client, map[string]string) bool { return true }

// textOf returns the reader of a text in the metadata of a node.
func textOf(key string) func(*structpb.Struct) string {
	return func(m *structpb.Struct) string { return m.GetFields()[key].GetStringValue() }
}

// A state gets what the first request has of the node, as far as the options allow the
// client: whether it may have secrets, and whether it may speak for another one.
func TestNodeOfStream(t *testing.T) {
	for _, test := range []struct {
		identity  string
		keep      bool // Options.KeepNodes
		noSecrets bool
		speaksFor string
	}{
		{identity: "any", noSecrets: true},
		{identity: "any", keep: true, noSecrets: true},
		{identity: "trusted"},
		{identity: "relay", noSecrets: true, speaksFor: "web"},
	} {
		t.Run(fmt.Sprintf("%s %v", test.identity, test.keep), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := xdstest.NewState()
				state.Nodes["n"] = xdstest.Snapshot()
				w := &witness{State: state}
				r := start(t, server.Options{
					Source: newSwitching(w), Access: witnessAccess{w}, Identify: identify,
					Secrets:   func(c *server.Client) bool { return c.Identity == "trusted" },
					Relay:     func(c *server.Client) bool { return c.Identity == "relay" },
					SpeaksFor: textOf("for"), Parameters: metadataOf, KeepNodes: test.keep,
				})
				n := nodeOf("n{for=web}")
				n.Extensions = []*corev3.Extension{{Name: "x"}}
				stream := deltaConversation(t, r.conn, as(test.identity))
				must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: n, TypeUrl: wire.ClusterType.URL()}))
				_, err := stream.Recv()
				must(t, err)
				must(t, stream.CloseSend())
				synctest.Wait()
				w.mu.Lock()
				defer w.mu.Unlock()
				if got := w.node; got.ID != "n" || got.UserAgent != "envoy" || got.Parameters["for"] != "web" || got.NoSecrets != test.noSecrets {
					t.Errorf("the state gets the node %+v", got)
				}
				if got := w.node.Message; (got != nil) != test.keep || got.GetExtensions() != nil {
					t.Errorf("the state gets the message %v, kept: %v", got, test.keep)
				}
				if got := w.client; got.Identity != test.identity || got.For != test.speaksFor {
					t.Errorf("the state gets the client %+v, want one that speaks for %q", got, test.speaksFor)
				}
			})
		})
	}
}

// What a node gives has at most 1 KiB each.
func TestLimitsOfNodes(t *testing.T) {
	const limit = 1 << 10
	for _, test := range []struct {
		what string
		node func(text string) *corev3.Node
	}{
		{"the id", func(text string) *corev3.Node { return &corev3.Node{Id: text} }},
		{"the user agent", func(text string) *corev3.Node { return &corev3.Node{UserAgentName: text} }},
		{"a parameter", func(text string) *corev3.Node { return nodeOf("n{env=" + text + "}") }},
		{"the identity of another client", func(text string) *corev3.Node { return nodeOf("n{for=" + text + "}") }},
	} {
		for length, want := range map[int]codes.Code{limit: codes.OK, limit + 1: codes.InvalidArgument} {
			t.Run(fmt.Sprint(test.what, " of ", length), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := start(t, server.Options{
						Source: oneNode(), SpeaksFor: textOf("for"), Relay: func(*server.Client) bool { return true },
						Parameters: func(m *structpb.Struct) map[string]string { return map[string]string{"env": textOf("env")(m)} },
					})
					stream := deltaConversation(t, r.conn, t.Context())
					must(t, stream.Send(&discoveryv3.DeltaDiscoveryRequest{Node: test.node(strings.Repeat("x", length)), TypeUrl: wire.ClusterType.URL()}))
					if _, err := stream.Recv(); status.Code(err) != want {
						t.Errorf("the answer is %v, want %v", err, want)
					}
				})
			})
		}
	}
}

// A node that waits is logged once, and one with parameters, which needs no dataplane, is not.
func TestLogOfWaitingNode(t *testing.T) {
	for id, want := range map[string]int{"w": 1, "w{env=prod}": 0, "n": 0} {
		t.Run(id, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log lockedBuffer
				r := start(t, server.Options{Source: oneNode(), Parameters: metadataOf, Logger: slog.New(slog.NewTextHandler(&log, nil))})
				c := r.client(t, xdstest.Options{Node: nodeOf(id)})
				must(t, c.Wildcard(wire.ClusterType))
				synctest.Wait()
				setNode(r.source, xdstest.Resource(wire.ClusterType, "a", "1"))
				synctest.Wait()
				if got := strings.Count(log.String(), "a node waits"); got != want {
					t.Errorf("the node is logged %d times, want %d: %s", got, want, log.String())
				}
			})
		})
	}
}

// The log has the streams that end because of a limit or of a wrong request, and no others.
func TestLogOfStreams(t *testing.T) {
	for _, test := range []struct {
		name    string
		request *discoveryv3.DeltaDiscoveryRequest
		logged  bool
	}{
		{"past a limit", &discoveryv3.DeltaDiscoveryRequest{ResourceNamesSubscribe: []string{"a", "b"}}, true},
		{"a long id", &discoveryv3.DeltaDiscoveryRequest{Node: node(strings.Repeat("x", 1025))}, true},
		{"the client ends it", &discoveryv3.DeltaDiscoveryRequest{ResourceNamesSubscribe: []string{"a"}}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log lockedBuffer
				r := start(t, server.Options{Source: oneNode(), MaxSubscriptions: 1, Logger: slog.New(slog.NewTextHandler(&log, nil))})
				for _, cancels := range []bool{false, true} {
					ctx, cancel := context.WithCancel(t.Context())
					stream := deltaConversation(t, r.conn, ctx)
					test.request.TypeUrl = wire.EndpointType.URL()
					must(t, stream.Send(test.request))
					synctest.Wait()
					if !cancels {
						must(t, stream.CloseSend())
						synctest.Wait()
					}
					cancel()
					synctest.Wait()
				}
				if got := strings.Contains(log.String(), "a stream ends"); got != test.logged {
					t.Errorf("the log has the end of the stream: %v, want %v: %s", got, test.logged, log.String())
				}
			})
		})
	}
}
