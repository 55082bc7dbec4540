package serve

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/semantics"
	"github.com/meshmatch/meshmatch/core/source"
	"github.com/meshmatch/meshmatch/core/variant"
	"github.com/meshmatch/meshmatch/core/xds"
)

// The defaults of SPEC 12.1.
const (
	DefaultXDS   = "127.0.0.1:5678"
	DefaultHTTP  = "127.0.0.1:5681"
	DefaultGrace = 4 * time.Second

	DefaultMaxRemoved   = 20 // percent
	DefaultRemovalGrace = 10 * time.Second
)

// Options configure a [Server]. Loader, Translators and Files are required.
type Options struct {
	// Loader reads the files; it has the kinds of the engine.
	Loader *resource.Loader
	// Translators make Envoy resources of the confs of policy kinds.
	Translators []xds.Translator
	// Files are files and directories, which are watched.
	Files []string
	// Semantics is how policies are read (SPEC 17.1); nil is [semantics.TargetRef], and
	// resources of a Kuma control plane in the first load are an
	// [ErrUnnamedSemantics], so that no label switches permissions off.
	Semantics *semantics.Semantics
	// XDS and HTTP are the addresses to listen on; empty: the defaults.
	XDS, HTTP string
	// State is a directory for the keys of generated CAs and the input of the last good
	// load, which is served when the first load has errors; empty: they are not kept.
	State string
	// RemovalGrace is how long the removal of many dataplanes of a mesh by one load
	// waits: of more than MaxRemoved percent of them, and more than 10. 0: nothing waits.
	RemovalGrace time.Duration
	MaxRemoved   float64
	// Version is the version of the program, for /status.
	Version string

	// TLS are the files of the certificate of the server, and of the CAs of clients;
	// nil: no TLS.
	TLS *TLSFiles
	// Insecure allows to listen on other addresses than loopback without TLS.
	Insecure bool
	// Relays are SPIFFE IDs of clients that may ask for every dataplane.
	Relays []string
	// Operators are SPIFFE IDs of clients that read all answers of HTTP over TLS; one
	// stands for those below it by a segment of the path too. OperatorToken is the path
	// of a file with a token that does so with or without TLS; empty: there is none.
	Operators     []string
	OperatorToken string
	// HTTPHosts are names that requests without TLS may have as their host.
	HTTPHosts []string
	// Health is an address to listen on for /healthz and /readyz alone, without TLS;
	// empty: there is none.
	Health string
	// Parameters make dynamic parameters of the metadata of nodes (SPEC 9.6).
	Parameters []variant.MetadataKey

	// Logger gets a line for each event; nil discards them. Messages are complete
	// sentences without attributes, apart from messages of package server.
	Logger *slog.Logger
	// Remedy returns what the user of the program does about a problem that is logged,
	// such as [ErrKeysNotServed] and [ca.ErrNotKept]: the flag to give. It is appended
	// to the message. It may return "", and may be nil.
	Remedy func(error) string
	// Grace is how long Run waits for clients when its context ends; 0 means
	// [DefaultGrace].
	Grace time.Duration
	// Quiet, Rescan and Notifications are fields of [source.Files].
	Quiet, Rescan time.Duration
	Notifications source.Notifications
	// Refresh is the interval at which certificates are renewed and CA files read; 0
	// means 10 s.
	Refresh time.Duration
}

// The errors name options by their fields; see [Options.Remedy].
var (
	// ErrNotLoopback indicates that a server without TLS would listen on an address
	// that other machines reach.
	ErrNotLoopback = errors.New("without TLS the server listens on loopback addresses only, unless Insecure is set")

	// ErrUnnamedSemantics indicates that resources come from a Kuma control plane,
	// and that no semantics is given to read them by.
	ErrUnnamedSemantics = errors.New("the resources are of a Kuma control plane")

	// ErrNoResources indicates that the files of a first load have no dataplanes, while
	// the input of the last good load has some.
	ErrNoResources = errors.New("the files have no dataplane, and the last good input has some")

	// ErrKeysNotServed indicates that dataplanes get no private keys, as others could
	// read them on the way. It is logged.
	ErrKeysNotServed = errors.New("private keys are served over TLS or loopback only: dataplanes with a Bundled identity get none")
)

func (o *Options) setDefaults() {
	o.XDS = cmp.Or(o.XDS, DefaultXDS)
	o.HTTP = cmp.Or(o.HTTP, DefaultHTTP)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Remedy == nil {
		o.Remedy = func(error) string { return "" }
	}
	o.Grace = cmp.Or(o.Grace, DefaultGrace)
	o.Refresh = cmp.Or(o.Refresh, 10*time.Second)
}
