package server

import (
	"fmt"
	"strings"
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/meshmatch/meshmatch/core/xds/server/internal/guard"
)

// What is exactly at a limit is admitted, and one more is not.
func TestLimitsOfRequests(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	// Of a node or an error with a text of n bytes, 4 more bytes are the tag and the length.
	node := func(n int) proto.Message {
		return &discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: x(n - 4)}}
	}
	detail := func(n int) proto.Message {
		return &discoveryv3.DeltaDiscoveryRequest{ErrorDetail: &rpcstatus.Status{Message: x(n - 5)}}
	}
	names := func(n int) proto.Message {
		return &discoveryv3.DeltaDiscoveryRequest{ResourceNamesSubscribe: make([]string, n)}
	}
	name := func(n int) proto.Message {
		return &discoveryv3.DeltaDiscoveryRequest{ResourceNamesSubscribe: []string{x(n)}}
	}
	key := func(n int) proto.Message {
		return &discoveryv3.DeltaDiscoveryRequest{InitialResourceVersions: map[string]string{x(n): ""}}
	}
	value := func(n int) proto.Message {
		return &discoveryv3.DeltaDiscoveryRequest{InitialResourceVersions: map[string]string{"": x(n)}}
	}
	parameters := func(n int) proto.Message {
		l := &discoveryv3.ResourceLocator{DynamicParameters: map[string]string{}}
		for i := range n {
			l.DynamicParameters[fmt.Sprint(i)] = ""
		}
		return &discoveryv3.DeltaDiscoveryRequest{ResourceLocatorsSubscribe: []*discoveryv3.ResourceLocator{l, l}} // each has its own limit
	}
	for _, c := range []struct {
		what    string
		request func(n int) proto.Message
		limit   int
		code    codes.Code
	}{
		{"the bytes of a node", node, maxNodeBytes, codes.InvalidArgument},
		{"the bytes of an error", detail, maxErrorBytes, codes.InvalidArgument},
		{"the elements of a list", names, 4, codes.ResourceExhausted},
		{"the bytes of a name", name, maxIDBytes, codes.InvalidArgument},
		{"the bytes of a key", key, maxIDBytes, codes.InvalidArgument},
		{"the bytes of a value", value, maxIDBytes, codes.InvalidArgument},
		{"the parameters of a locator", parameters, 2, codes.ResourceExhausted},
	} {
		for n, want := range map[int]codes.Code{c.limit: codes.OK, c.limit + 1: c.code} {
			b, err := proto.Marshal(c.request(n))
			if err != nil {
				t.Fatal(err)
			}
			weight := scale{names: 4, parameters: 2}
			if err := weight.weigh(b, delta); status.Code(err) != want {
				t.Errorf("%s are %d, the limit is %d: got %v, want %v", c.what, n, c.limit, err, want)
			}
		}
	}
}

// Fields that a later version of the protocol may add are skipped, whatever their type. A
// request that ends within a field is refused.
func TestUnknownFields(t *testing.T) {
	for number := protowire.Number(10); number < 20; number++ {
		for _, field := range [][]byte{
			protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), 300),
			protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), 1),
			protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), "text"),
		} {
			for _, p := range []protocol{delta, stateOfTheWorld} {
				if err := new(scale).weigh(field, p); err != nil {
					t.Errorf("field %d: %v", number, err)
				}
				if err := new(scale).weigh(field[:len(field)-1], p); status.Code(err) != codes.InvalidArgument {
					t.Errorf("field %d without its last byte: %v", number, err)
				}
			}
		}
	}
}

// So many requests for types that are not served wait for a client to read, and no more.
func TestLimitOfRefusals(t *testing.T) {
	limits := guard.Options{MaxStreamsPerPeer: 1, MaxSubscriptions: 100, MaxSubscriptionBytes: 1 << 20, MaxTotalBytes: 1 << 30, MaxRate: 1 << 20,
		Relay: func(guard.Peer) bool { return false }}
	budget, err := guard.New(limits).Enter(guard.Peer{Identity: "a"})
	if err != nil {
		t.Fatal(err)
	}
	s := &stream{budget: budget}
	for i := range maxRefused {
		if err := s.refuse(newRefusal("x", []string{"a"}, nil)); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
	}
	if err := s.refuse(newRefusal("x", []string{"a"}, nil)); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("one more: %v", err)
	}
}
