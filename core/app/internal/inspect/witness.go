package inspect

import (
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Witness is a request. Absent parts are omitted.
type Witness struct {
	SpiffeID string            `json:"spiffeId,omitempty"`
	Tags     resource.Tags     `json:"tags,omitzero"`
	Method   string            `json:"method,omitempty"`
	Path     string            `json:"path,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	SNI      string            `json:"sni,omitempty"`
}

// NewWitness returns a request for printing.
func NewWitness(r *request.Request) Witness {
	w := Witness{SpiffeID: r.SpiffeID, Tags: r.Tags, Method: r.Method, Path: r.Path, SNI: r.SNI}
	for _, h := range r.Headers {
		if w.Headers == nil {
			w.Headers = map[string]string{}
		}
		w.Headers[h.Name] = h.Value
	}
	return w
}
