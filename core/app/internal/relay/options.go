package relay

import (
	"cmp"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/grpc"

	"github.com/meshmatch/meshmatch/core/xds/server"
)

// A Mode is how the relay subscribes upstream.
type Mode string

const (
	// Locators subscribes to outbounds by locator, and to the rest by node.
	Locators Mode = "locators"
	// Nodes subscribes to everything by node: for an upstream without locators.
	Nodes Mode = "nodes"
)

// Modes are all modes; the first one is the default.
var Modes = []string{string(Locators), string(Nodes)}

// DefaultIdle is the default of Options.Idle.
const DefaultIdle = 10 * time.Minute

// An Upstream is the address of an ADS server.
type Upstream struct {
	Address string
	// Options configure the connection, such as its credentials.
	Options []grpc.DialOption
}

// Options configure a [Relay]. Only Upstreams is required.
type Options struct {
	// Upstreams are tried in order, until one responds.
	Upstreams []Upstream
	Mode      Mode // empty: Locators
	// Idle is how long a variant, or a node, is kept that no client uses; 0: DefaultIdle.
	Idle time.Duration
	// MaxAge is how long after the loss of the upstream the cache is served; 0: no limit.
	MaxAge time.Duration
	// State is a directory in which the cache is kept, without secrets; empty: it is not.
	State string
	// Authenticated is set if clients have identities. Then the upstream decides what each
	// of them may have.
	Authenticated bool
	// NoSecrets is set if clients get no secrets, because the network could read them.
	NoSecrets bool
	// Trusted reports whether a client is a relay that speaks for its own clients. Nil: none
	// is.
	Trusted func(*server.Client) bool
	// Logger gets a line for each event, within the limits of package loglimit; nil discards
	// them.
	Logger *slog.Logger
}

func (o *Options) setDefaults() error {
	if len(o.Upstreams) == 0 {
		return fmt.Errorf("a relay needs an upstream")
	}
	o.Mode = cmp.Or(o.Mode, Locators)
	o.Idle = cmp.Or(o.Idle, DefaultIdle)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Trusted == nil {
		o.Trusted = func(*server.Client) bool { return false }
	}
	return nil
}
