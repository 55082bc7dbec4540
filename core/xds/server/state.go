package server

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/xds/server/internal/guard"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// A Source publishes states. It is safe for concurrent use.
type Source interface {
	// Current returns the newest state, and a channel that is closed when there is
	// a newer one. It is called often and must be cheap, such as one atomic load.
	Current() (State, <-chan struct{})
}

// A State is one state of all resources. It is immutable, and safe for concurrent
// use. Its methods are called for each stream at each change: they must be cheap
// and must not wait.
//
// After a change, the server asks a state for each locator of each stream, unless it has the method
//
//	Relocated(node *Node, before State) (names []string, known bool)
//
// It returns the names, sorted, for which Locate may answer clients of a node otherwise than an earlier state
// of the source did. The server then asks for these names alone. False means that it may be each name.
//
// The server also calls Node for each stream, unless the state has the method
//
//	Keeps(node *Node, before State) bool
//
// Keeps reports that Node returns the same as for before, the state that the stream was at. For a [PartialState]
// it is about AnswerNode and AnswerName instead. False means that they may return something else.
//
// Node may take long for some nodes, because of the policies for them. Other nodes do not wait for
// these, if the state has the method
//
//	IsLong(node *Node) bool
//
// IsLong reports whether Node may take long for a node.
type State interface {
	// Node returns what the dataplane with the id of a node is served, and false if
	// there is no such dataplane (SPEC 12.2). If nothing changed for a dataplane,
	// later states return the same pointer.
	Node(node *Node) (*wire.Snapshot, bool)
	// Locate returns the variant of a name that parameters choose for a client. It returns
	// false if the name does not exist or no variant covers the parameters (SPEC 12.4). Of
	// the node only what the client is matters: its user agent and version. It does not keep
	// the map.
	Locate(node *Node, t wire.Type, name string, parameters map[string]string) (wire.Variant, bool)
}

// A variantState is a State that reports which locators a change can reach.
type variantState interface {
	Relocated(node *Node, before State) (names []string, known bool)
}

// A keepingState is a State that reports for which nodes a change matters.
type keepingState interface {
	Keeps(node *Node, before State) bool
}

// A Node is what the server keeps of the node of a stream.
type Node struct {
	ID        string // the KRI of a dataplane
	UserAgent string // user_agent_name, such as "envoy" or "gRPC Go"
	Version   string // such as "1.36.4"; "" if the node states none
	// Parameters are the dynamic parameters that Options.Parameters makes of the
	// metadata (SPEC 9.6). A node whose id is no dataplane is answered by them.
	Parameters map[string]string
	// NoSecrets is set if the client may have no secrets (Options.Secrets).
	NoSecrets bool
	// Message is the node as the client sent it, without its list of extensions, if
	// Options.KeepNodes is set. It must not be changed.
	Message *corev3.Node
	// Memo is what a State keeps of its answer. Only its methods Node, AnswerNode and Keeps use it. They are
	// called for one stream by one goroutine at a time, each stream with a Node of its own.
	Memo any
}

// Access decides what a client may have (SPEC 12.1). It is safe for concurrent use,
// and must be as cheap as a State. Decisions are repeated for each new state.
type Access interface {
	// Node reports whether a client may have the resources of a dataplane, by the
	// node id.
	Node(state State, client *Client, id string) bool
	// Parameters reports whether a client may have the variants that parameters
	// choose.
	Parameters(state State, client *Client, parameters map[string]string) bool
	// Name reports whether a client may ask for a name by parameters.
	Name(state State, client *Client, name string) bool
}

// A Client is the peer of a stream. It does not change while the stream lives, except that For
// is set by the first request.
type Client struct {
	// Address is the network address, for logs and for the status of dataplanes.
	Address string
	// Identity is what Options.Identify returns, such as a SPIFFE ID.
	Identity string
	// For is the identity of the client that this one speaks for, a relay (SPEC 16), as
	// Options.SpeaksFor returns it; empty if it speaks for itself.
	For string
}

func (c *Client) peer() guard.Peer { return guard.Peer{Address: c.Address, Identity: c.Identity} }

// NetworkOf returns what a limit on connections applies to before a client has an identity, from
// an address with a port: its IP address; in IPv6 the network of 64 bits, because one machine may
// have all addresses of such a network.
func NetworkOf(address string) string { return guard.NetworkOf(address) }
