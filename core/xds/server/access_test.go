package server_test

import (
	"context"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/structpb"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/xdstest"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// ownOnly allows each client the node and the tag "app" with the name of its identity.
// A state with a node "open" allows everything.
type ownOnly struct{}

func (ownOnly) Node(state server.State, c *server.Client, id string) bool {
	_, open := state.Node(&server.Node{ID: "open"})
	return open || c.Identity == id
}

func (ownOnly) Name(server.State, *server.Client, string) bool { return true }

func (ownOnly) Parameters(_ server.State, c *server.Client, parameters map[string]string) bool {
	return parameters["app"] == c.Identity
}

// identify reads the identity from a header, where a server would read it from TLS.
func identify(ctx context.Context) (string, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if names := md.Get("identity"); len(names) == 1 {
		return names[0], nil
	}
	return "", status.Error(codes.Unauthenticated, "no identity")
}

func as(identity string) context.Context {
	return metadata.AppendToOutgoingContext(context.Background(), "identity", identity)
}

func TestAccess(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		a := xdstest.Resource(wire.ClusterType, "a", "1")
		state := xdstest.NewState()
		state.Nodes["n"] = xdstest.Snapshot(a)
		state.Variants[xdstest.Name{Type: wire.ClusterType, Name: "web"}] = []wire.Variant{
			xdstest.Variant(xdstest.Resource(wire.ClusterType, "web", "1"), ""),
		}
		r := start(t, server.Options{Source: xdstest.NewSource(state), Access: ownOnly{}, Identify: identify})
		client := func(identity string) *xdstest.Client {
			c, err := xdstest.New(as(identity), r.conn, xdstest.Options{StateOfTheWorld: sotw, Node: node("n")})
			must(t, err)
			t.Cleanup(c.Close)
			return c
		}

		own := client("n")
		must(t, own.Wildcard(wire.ClusterType))
		await(t, own, wire.ClusterType, a)

		other := client("m")
		must(t, other.Wildcard(wire.ClusterType))
		denied := func(name string) func() bool {
			return func() bool { code, _ := other.Error(wire.ClusterType, name); return code == codes.PermissionDenied }
		}
		if !settles(denied("*")) || len(other.Named(wire.ClusterType)) > 0 {
			t.Errorf("another client holds %v, or gets no error", other.Named(wire.ClusterType))
		}
		mine := xdstest.Locator{Name: "web", Parameters: map[string]string{"app": "m"}}
		theirs := xdstest.Locator{Name: "web", Parameters: map[string]string{"app": "n"}}
		must(t, other.SubscribeLocators(wire.ClusterType, theirs))
		if !settles(denied("web")) {
			t.Error("the parameters of another client are not refused")
		}
		must(t, other.SubscribeLocators(wire.ClusterType, mine))
		if !settles(func() bool { _, ok := other.Located(wire.ClusterType, mine); return ok }) {
			t.Error("the own parameters are refused")
		}

		// Decisions follow the state.
		r.source.Edit(func(s *xdstest.State) { s.Nodes["open"] = xdstest.Snapshot() })
		await(t, other, wire.ClusterType, a)
	})
}

func TestIdentifyRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, server.Options{Source: oneNode(), Identify: identify})
		awaitEnd(t, r.client(t, xdstest.Options{Node: node("n")}), codes.Unauthenticated)
	})
}

// A node that is no dataplane is answered by the parameters of its metadata (SPEC 9.6),
// by name.
func TestParametersOfMetadata(t *testing.T) {
	forProtocols(t, func(t *testing.T, sotw bool) {
		prod, test := xdstest.Resource(wire.ClusterType, "web", "prod"), xdstest.Resource(wire.ClusterType, "web", "test")
		state := xdstest.NewState()
		name := xdstest.Name{Type: wire.ClusterType, Name: "web"}
		state.Variants[name] = []wire.Variant{
			xdstest.Variant(prod, `{"constraint": {"key": "env", "value": "prod"}}`),
			xdstest.Variant(test, `{"notConstraints": {"constraint": {"key": "env", "value": "prod"}}}`),
		}
		r := start(t, server.Options{Source: xdstest.NewSource(state), Parameters: func(m *structpb.Struct) map[string]string {
			if env := m.GetFields()["env"].GetStringValue(); env != "" {
				return map[string]string{"env": env}
			}
			return nil
		}})
		metadata, err := structpb.NewStruct(map[string]any{"env": "prod"})
		must(t, err)
		c := r.client(t, xdstest.Options{StateOfTheWorld: sotw, Node: &corev3.Node{Id: "legacy", Metadata: metadata}})
		must(t, c.Subscribe(wire.ClusterType, "web"))
		await(t, c, wire.ClusterType, prod)
		r.source.Edit(func(s *xdstest.State) { s.Variants[name] = []wire.Variant{xdstest.Variant(test, "")} })
		await(t, c, wire.ClusterType, test)
		r.source.Edit(func(s *xdstest.State) { delete(s.Variants, name) })
		await(t, c, wire.ClusterType)
	})
}

// A client that may not have the dataplane of its node does not get what the parameters of
// its metadata choose either; nor does one whose parameters are refused.
func TestAccessByParametersOfMetadata(t *testing.T) {
	for _, test := range []struct {
		name, identity, node string
		want                 codes.Code // of the error
	}{
		{"both are allowed", "m", "m{app=m}", codes.OK},
		{"the node is not allowed", "m", "n{app=m}", codes.PermissionDenied},
		{"the parameters are not allowed", "m", "m{app=n}", codes.NotFound},
	} {
		t.Run(test.name, func(t *testing.T) {
			forProtocols(t, func(t *testing.T, sotw bool) {
				web := xdstest.Resource(wire.ClusterType, "web", "1")
				state := xdstest.NewState()
				state.Variants[xdstest.Name{Type: wire.ClusterType, Name: "web"}] = []wire.Variant{xdstest.Variant(web, "")}
				r := start(t, server.Options{Source: xdstest.NewSource(state), Access: ownOnly{}, Identify: identify, Parameters: metadataOf})
				c, err := xdstest.New(as(test.identity), r.conn, xdstest.Options{StateOfTheWorld: sotw, Node: nodeOf(test.node)})
				must(t, err)
				t.Cleanup(c.Close)
				must(t, c.Subscribe(wire.ClusterType, "web"))
				synctest.Wait()
				if code, _ := c.Error(wire.ClusterType, "web"); code != test.want {
					t.Errorf("the name has the error %v, want %v", code, test.want)
				}
				if got := len(c.Named(wire.ClusterType)); (got == 1) != (test.want == codes.OK) {
					t.Errorf("the client holds %d resources", got)
				}
			})
		})
	}
}
