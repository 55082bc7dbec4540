package inspect

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/collector"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Collector is how proxies reach the MeshOpenTelemetryBackend to which a conf refers (SPEC
// 17.3).
type Collector struct {
	KRI    string `json:"kri"`
	Source string `json:"source,omitempty"` // file:line, with Options.Source
	// Protocol is grpc or http.
	Protocol string `json:"protocol"`
	// Endpoint is HOST:PORT of a collector by gRPC, and otherwise the URL below which
	// signals are sent.
	Endpoint string `json:"endpoint"`
}

// String returns such as "otel (grpc, 10.0.0.1:4317)", with the name of the backend in
// place of its KRI.
func (c *Collector) String() string {
	if c == nil {
		return "no MeshOpenTelemetryBackend is found"
	}
	return c.KRI + " (" + c.Protocol + ", " + c.Endpoint + ")"
}

// SetView sets the options that depend on a view and one of its meshes.
func (options *Options) SetView(view *core.View, mesh string) {
	options.Semantics, options.collectors = view.Semantics(), view.Collectors(mesh)
}

// Collectors returns the collectors to which a conf refers, by the JSON pointers of the
// references; nil if it refers to none. A reference that finds none has nil.
func (options *Options) Collectors(c resource.Conf) map[string]*Collector {
	var found map[string]*Collector
	for pointer, ref := range conf.CollectorRefs(c) {
		if found == nil {
			found = map[string]*Collector{}
		}
		found[pointer] = nil
		if to, ok := options.collectors.Find(ref); ok {
			found[pointer] = newCollector(&to, options.Semantics, options.Source)
		}
	}
	return found
}

// CollectorsOf returns the collectors of a conf of a mesh, as answers have them. It does
// not name files.
func CollectorsOf(view *core.View, mesh string, c resource.Conf) map[string]*Collector {
	var options Options
	options.SetView(view, mesh)
	return options.Collectors(c)
}

func newCollector(c *collector.Collector, s semantics.Semantics, source bool) *Collector {
	shown := &Collector{KRI: s.KRI(c.Backend.KRI(""), &c.Backend.Meta), Protocol: "grpc", Endpoint: c.Endpoint()}
	if c.HTTP {
		shown.Protocol = "http"
	}
	if source {
		shown.Source = words.Source(c.Backend.Pos)
	}
	return shown
}
