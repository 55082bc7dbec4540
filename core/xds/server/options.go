package server

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
)

// Limits of the protocol and defaults.
const (
	// MaxRequestBytes is the limit on one request: the first one after a
	// reconnection has the names and versions of all that a client holds.
	MaxRequestBytes = 32 << 20
	// MaxResponseBytes is the size that responses are split at, where the protocol
	// allows. A single larger resource is sent by itself. Clients of gRPC accept
	// 4 MiB by default.
	MaxResponseBytes = 4<<20 - 64<<10

	maxHeaderBytes          = 64 << 10
	streamWindow            = 64 << 10 // what gRPC takes of a stream that is not read, beside the message that is
	connectionWindow        = 1 << 20
	defaultWait             = 5 * time.Second
	defaultKeep             = 5 * time.Minute
	defaultMaxSubscriptions = 100_000
	defaultMaxBytes         = 64 << 20
	defaultMaxTotal         = 256 << 20
	defaultMaxParameters    = 64
	defaultMaxStreams       = 20_000
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
	// ObservePush gets the time from when the server finds a change until a response that
	// it leads to is given to gRPC, which writes it when the client reads. It is called by
	// many goroutines at a time, and must not wait. Nil measures nothing.
	ObservePush func(time.Duration)
	// Logger gets a line for each NACK, for nodes without a dataplane and for
	// clients past a limit. Nil discards them.
	Logger *slog.Logger

	// Wait is how long removals wait for the ACKs of additions, and additions for
	// those of the types before them: 5s if it is 0 (SPEC 12.3).
	Wait time.Duration
	// Keep is for how long after the start of Run a client keeps what it resumed with
	// while its node is no dataplane: 5m if it is 0 (SPEC 12.2).
	Keep time.Duration

	// SPEC 12.3 has the following limits. A client is its identity; without one
	// its network address; on loopback its connection. A stream that passes a limit ends
	// with RESOURCE_EXHAUSTED.

	// MaxSubscriptions limits the names and locators of one client over all its streams,
	// 100,000 if it is 0.
	MaxSubscriptions int
	// MaxSubscriptionBytes limits what these take in memory, and what the requests of one
	// client take while they come in or are handled: 64 MiB each if it is 0.
	MaxSubscriptionBytes int
	// MaxTotalBytes limits both for all clients but relays together, 256 MiB if it is 0.
	MaxTotalBytes int
	// Relay reports whether a client is a relay, which may subscribe ten times as much.
	// Nil: none is.
	Relay func(*Client) bool
	// MaxParameters limits the dynamic parameters of one locator, 64 if it is 0.
	MaxParameters int
	// MaxStreamsPerPeer limits the streams of one identity, or of one network
	// address if clients have none, 20,000 if it is 0.
	MaxStreamsPerPeer int
}
