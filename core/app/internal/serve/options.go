package serve

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/source"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/identity/ca"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
)

// The defaults of SPEC 12.1.
const (
	DefaultXDS   = "127.0.0.1:5678"
	DefaultHTTP  = "127.0.0.1:5681"
	DefaultGrace = 4 * time.Second

	DefaultMaxClientRate = server.DefaultMaxRate

	DefaultMaxRemoved   = 20 // percent
	DefaultRemovalGrace = 10 * time.Second
)

// Options configure a [Server]. Loader, Translators, and Files or Stores are required.
type Options struct {
	// Loader reads the files. The engine gets its kinds.
	Loader *resource.Loader
	// Translators make Envoy resources from the confs of policy kinds.
	Translators []xds.Translator
	// Files are the watched files and directories.
	Files []string
	// Stores are followed in addition to Files (SPEC 14.3).
	Stores []source.Store
	// CAs keeps generated CAs for all servers of a store (SPEC 14.4); nil: each server has its
	// own, in State.
	CAs ca.Shared
	// AcceptRollback accepts the state of a store that was set back.
	AcceptRollback bool
	// Semantics is how policies are read (SPEC 17.1). Nil means [semantics.TargetRef].
	// Then resources of a Kuma control plane in the first load are an
	// [ErrUnnamedSemantics], so that no label disables permissions.
	Semantics *semantics.Semantics
	// XDS and HTTP are the addresses to listen on; empty: the defaults.
	XDS, HTTP string
	// State is a directory for the keys of generated CAs and the input of the last good
	// load. That input is served if the first load has errors. Empty: they are not kept.
	State string
	// RemovalGrace is how long removals wait if one load removes many dataplanes of a
	// mesh: more than MaxRemoved percent of them, and more than 10. 0: no removal waits.
	RemovalGrace time.Duration
	MaxRemoved   float64
	// Version is the version of the program, for /status.
	Version string

	// TLS are the files of the server's certificate and of its clients' CAs; nil: no TLS.
	TLS *TLSFiles
	// Insecure allows the server to listen on addresses other than loopback without TLS.
	Insecure bool
	// Relays are SPIFFE IDs of clients that may ask for every dataplane, and for another
	// client (SPEC 16). Those of RelaySecrets are also sent private keys.
	Relays, RelaySecrets []string
	// Operators are SPIFFE IDs of clients that may read all answers of HTTP over TLS. An
	// ID includes the IDs that extend it by whole path segments. OperatorToken is the
	// path of a file with a token that permits the same, with or without TLS; empty:
	// there is none.
	Operators     []string
	OperatorToken string
	// HTTPPrefix begins the paths of links, such as "/mesh" if a proxy in front serves other
	// sites too. Requests may have it or not. It begins with a slash and does not end in
	// one; empty: there is none.
	HTTPPrefix string
	// PagesOnly leaves ADS out: no proxy is served, and HTTP shows the files alone.
	PagesOnly bool
	// Set contains resources instead of Files, which are then not watched; nil: Files.
	Set *resource.Set
	// HTTPHosts are names that requests without TLS may have as their host.
	HTTPHosts []string
	// Health is the address of a listener for only /healthz and /readyz, without TLS;
	// empty: there is none.
	Health string
	// Admission is the address of a listener that answers the reviews of an API server (SPEC
	// 12.6); empty: there is none. It uses the files of AdmissionTLS, whose ClientCA may be
	// empty. RefuseFindings and RefuseLate are fields of [admission.Options].
	Admission      string
	AdmissionTLS   TLSFiles
	RefuseFindings func(diag.Diagnostic) bool
	RefuseLate     bool
	// Parameters are the metadata keys of nodes that become dynamic parameters (SPEC 9.6).
	Parameters []variant.MetadataKey

	// MaxStreams limits the ADS streams of this server; 0: no limit. MaxConnectionAge is
	// the age at which connections of ADS end, with a spread of 10 % to both sides; 0:
	// never. With them, a balancer in front of replicas divides the clients again (SPEC 14.4).
	MaxStreams       int
	MaxConnectionAge time.Duration
	// MaxClientRate is how many bytes of a client of ADS are read in a second; 0 means
	// [DefaultMaxClientRate] (see server.Options.MaxRate).
	MaxClientRate int

	// Loaded is called once, when the first state begins to be served; nil: nothing is
	// called. Later states wait for it.
	Loaded func()
	// Logger gets a line for each event; nil discards them. Messages are complete
	// sentences without attributes, apart from messages of package server.
	Logger *slog.Logger
	// Remedy returns what the user of the program can do about a logged problem, such as
	// the flag to set for [ErrKeysNotServed] or [ca.ErrNotKept]. It is appended to the
	// message. It may return "", and may be nil.
	Remedy func(error) string
	// Grace is how long Run waits for clients when its context ends; 0 means
	// [DefaultGrace].
	Grace time.Duration
	// Quiet, Rescan and Notifications are fields of [source.Files].
	Quiet, Rescan time.Duration
	Notifications source.Notifications
	// Refresh is the interval at which the server renews certificates that are due and
	// reads CA files; 0 means 10 s.
	Refresh time.Duration
}

// The errors name options by their fields; see [Options.Remedy].
var (
	// ErrNotLoopback indicates that a server without TLS would listen on an address that
	// is not loopback.
	ErrNotLoopback = errors.New("without TLS the server listens on loopback addresses only")

	// ErrUnnamedSemantics indicates that resources come from a Kuma control plane, and
	// that Options.Semantics is nil.
	ErrUnnamedSemantics = errors.New("the resources are of a Kuma control plane")

	// ErrNoResources indicates that the files of a first load have no dataplanes, while
	// the input of the last good load has some.
	ErrNoResources = errors.New("the files have no dataplane, and the last good input has some")

	// ErrKeysNotServed indicates that dataplanes get no private keys, because the network
	// could read them. It is logged.
	ErrKeysNotServed = errors.New("private keys are served over TLS or loopback only: dataplanes with a Bundled identity get none, nor do clusters of MeshExternalServices with a clientKey")
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
