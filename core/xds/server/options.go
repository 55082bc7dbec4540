package server

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/meshmatch/meshmatch/core/xds/server/internal/guard"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// Limits of the protocol and defaults.
const (
	// MaxRequestBytes is the limit on one request: the first request after a reconnection
	// lists the names and versions of everything that the client holds.
	MaxRequestBytes = guard.MaxRequestBytes
	// MaxResponseBytes is the size at which responses are split where the protocol allows
	// it. A larger resource is sent alone. Clients of gRPC accept 4 MiB by default.
	MaxResponseBytes = 4<<20 - 64<<10
	// DefaultMaxRate is the default of Options.MaxRate.
	DefaultMaxRate = 8 << 20

	maxHeaderBytes          = 64 << 10
	streamWindow            = 64 << 10 // what gRPC takes of a stream in addition to the message that is being read
	connectionWindow        = 1 << 20
	readBuffer              = 1 << 9 // of each connection without TLS; most requests are ACKs of about 150 bytes
	defaultWait             = 5 * time.Second
	defaultKeep             = 5 * time.Minute
	defaultMaxSubscriptions = 100_000
	defaultMaxBytes         = 64 << 20
	defaultMaxTotal         = 256 << 20
	defaultMaxParameters    = 64
	defaultMaxStreams       = 20_000

	// spareStreams are what a connection may have beyond the limit of its client, so that a
	// stream past that limit is refused with a reason. HTTP/2 would let it wait.
	spareStreams = 100
	ageGrace     = 5 * time.Second // from GOAWAY at the age of a connection until it is closed
)

// Options configure a Server. Only Source is required.
type Options struct {
	Source Source
	// Access decides what a client may have. Nil allows everything.
	Access Access
	// Identify returns the identity of the client of a stream, from the context of
	// the call. An error ends the stream; it should have a gRPC status. Nil leaves
	// identities empty.
	Identify func(context.Context) (string, error)
	// Parameters returns the dynamic parameters that the metadata of a node gives
	// to a client without locators (SPEC 9.6), or nil.
	Parameters func(*structpb.Struct) map[string]string
	// SpeaksFor returns the identity of the client that another one speaks for, from the
	// metadata of the node of its first request; empty: it speaks for itself. It is called
	// for relays only: see Relay. Nil: none does.
	SpeaksFor func(*structpb.Struct) string
	// Refuse returns why a client with the node of its first request is not served; nil: it
	// is (SPEC 18.2). The stream ends with FAILED_PRECONDITION and the text of the error, and
	// the client keeps what it has. Nil refuses none.
	Refuse func(*Node) error
	// Secrets reports whether a client may have secrets, see Node.NoSecrets. Nil: each may.
	Secrets func(*Client) bool
	// ObservePush receives the time from the moment the server sees a change until a
	// response is handed to gRPC. gRPC writes it when the client reads. Many goroutines
	// call it at once, and it must not wait. Nil measures nothing.
	ObservePush func(time.Duration)
	// Logger gets a line for each NACK, for nodes without a dataplane and for
	// clients past a limit, within the limits of package loglimit. Nil discards them.
	Logger *slog.Logger

	// KeepNodes keeps the nodes of streams in Node.Message, for a relay.
	KeepNodes bool

	// Wait is how long removals wait for the ACKs of additions, and additions for the ACKs
	// of earlier types; 0 means 5s (SPEC 12.3).
	Wait time.Duration
	// Drain is how long a proxy whose node does not have its drain time (wire.DrainMetadata) keeps
	// what its old listeners use; 0 means 630s, less than 0 that nothing drains.
	Drain time.Duration
	// Follow returns what a permission filter is in a state, although no listener refers to it any
	// more: its client keeps it while connections drain. It is the filter that the inbound would
	// have with HTTP. Gone reports that the dataplane has no such inbound: the filter then denies
	// everyone. It is called for each new state, and nil means that the filter stays as it is.
	Follow func(state State, node *Node, name string) (filter *wire.Resource, gone bool)
	// Keep is how long after the start of Run a client keeps what it resumed with although
	// its node is not a dataplane; 0 means 5m (SPEC 12.2).
	Keep time.Duration

	// The limits of SPEC 12.3. A client is identified by its identity, else by its network
	// address, and on loopback by its connection. A stream that exceeds a limit ends with
	// RESOURCE_EXHAUSTED.

	// MaxSubscriptions limits the names and locators of one client over all its streams; 0
	// means 100,000.
	MaxSubscriptions int
	// MaxSubscriptionBytes limits what these take in memory, and what the requests of one
	// client take while they arrive or are handled; 0 means 64 MiB each.
	MaxSubscriptionBytes int
	// MaxTotalBytes limits both for all clients together, except relays; 0 means 256 MiB.
	MaxTotalBytes int
	// Relay reports whether a client is a relay, which may subscribe ten times as much.
	// Nil: none is.
	Relay func(*Client) bool
	// MaxParameters limits the dynamic parameters of one locator; 0 means 64.
	MaxParameters int
	// MaxStreamsPerPeer limits the streams of one identity, or of one network address if
	// clients have none; 0 means 20,000. A client has at most as many connections.
	MaxStreamsPerPeer int
	// MaxRate is how many bytes of a client are read in a second; 0 means DefaultMaxRate. A
	// client that has sent less may send as much at once. Frames, headers and streams that end cost more than their bytes (see
	// pace). A relay may send ten times as much.
	MaxRate int

	// MaxStreams limits the streams of all clients; 0: no limit. Further ones are refused
	// with UNAVAILABLE. Their connection is closed if it has no other stream: the next
	// connection of the client may reach another replica (SPEC 14.4).
	MaxStreams int
	// MaxConnectionAge ends connections of this age, with a spread of 10 % to both sides,
	// so that replicas share the load again; 0: never (SPEC 14.4).
	MaxConnectionAge time.Duration
}
