package collector

import (
	"net"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The paths at which a collector accepts a signal over HTTP, below the path of its
// endpoint.
const (
	TracesPath  = "/v1/traces"
	MetricsPath = "/v1/metrics"
	LogsPath    = "/v1/logs"
)

// DefaultPort is the port of a collector without one, for both protocols.
const DefaultPort = 4317

// nodeAddress is the address of a collector without one: the node of the proxy, which no
// resource describes.
const nodeAddress = "127.0.0.1"

// tlsPort is the port at which a collector by HTTP is called by TLS.
const tlsPort = 443

// Directory contains the MeshOpenTelemetryBackends of a mesh.
type Directory struct {
	semantics semantics.Semantics
	backends  []*resource.MeshOpenTelemetryBackend // oldest first, then by identity
}

// New returns the set of the backends among the objects of a mesh, which must be sorted by
// identity; nil if there are none.
func New(s semantics.Semantics, objects []resource.Object) *Directory {
	backends := resource.ObjectsOf[*resource.MeshOpenTelemetryBackend](objects)
	if len(backends) == 0 {
		return nil
	}
	slices.SortStableFunc(backends, func(a, b *resource.MeshOpenTelemetryBackend) int { return a.Created().Compare(b.Created()) })
	return &Directory{s, backends}
}

// Equal reports whether two sets have the same backends.
func (s *Directory) Equal(o *Directory) bool {
	if s == nil || o == nil {
		return s == o
	}
	return s.semantics == o.semantics && slices.Equal(s.backends, o.backends)
}

// Find returns the collector of a reference: the oldest backend that it finds, or false if
// it finds none.
func (s *Directory) Find(ref *conf.CollectorRef) (Collector, bool) {
	if s == nil {
		return Collector{}, false
	}
	for _, b := range s.backends {
		if s.semantics.FindsCollector(ref, &b.Meta) {
			return ForBackend(b), true
		}
	}
	return Collector{}, false
}

// Collector is how proxies reach a MeshOpenTelemetryBackend.
type Collector struct {
	Backend *resource.MeshOpenTelemetryBackend
	Host    string // a name or an address
	Port    uint32
	HTTP    bool // else gRPC
	TLS     bool // only with HTTP
	// Path is the path of the endpoint, for HTTP; "" if there is none.
	Path string
	// OnNode reports that the backend has no address, so that the collector is expected on
	// the node of the proxy.
	OnNode bool
}

// ForBackend returns how proxies reach a backend.
func ForBackend(b *resource.MeshOpenTelemetryBackend) Collector {
	c := Collector{Backend: b, Host: nodeAddress, Port: DefaultPort, HTTP: b.Spec.Protocol == "http", OnNode: true}
	if e := b.Spec.Endpoint; e != nil {
		if e.Address != nil {
			c.Host, c.OnNode = *e.Address, false
		}
		if e.Port != nil {
			c.Port = *e.Port
		}
		c.Path = e.Path
	}
	c.TLS = c.HTTP && c.Port == tlsPort
	return c
}

// Address returns HOST:PORT.
func (c *Collector) Address() string {
	return net.JoinHostPort(c.Host, strconv.FormatUint(uint64(c.Port), 10))
}

// URL returns the URL to which a signal is sent over HTTP. The signal is one of
// [TracesPath], [MetricsPath] and [LogsPath].
func (c *Collector) URL(signal string) string {
	scheme := "http"
	if c.TLS {
		scheme = "https"
	}
	return scheme + "://" + c.Address() + path.Join("/", c.Path, signal)
}

// Endpoint returns HOST:PORT for gRPC, and otherwise the URL below which signals are sent.
func (c *Collector) Endpoint() string {
	if !c.HTTP {
		return c.Address()
	}
	return strings.TrimSuffix(c.URL(""), "/")
}
