package translators

import (
	otlpv1 "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/resource"
)

// loggingProxy is the proxy that writes a log: [xds.Facets] or an [ownProxy].
type loggingProxy interface {
	Zone() string
	Service() string
	Dataplane() *resource.Dataplane
}

// ownProxy is the proxy of a draft that no other dataplane has.
type ownProxy struct {
	dataplane *resource.Dataplane
	service   string
}

func (p ownProxy) Zone() string                   { return enforce.ZoneOf(p.dataplane) }
func (p ownProxy) Service() string                { return p.service }
func (p ownProxy) Dataplane() *resource.Dataplane { return p.dataplane }

// proxyAttributes returns which proxy wrote a log record: the attributes of the resource in
// OpenTelemetry that the proxy has.
func proxyAttributes(p loggingProxy) *otlpv1.KeyValueList {
	d := p.Dataplane()
	list := &otlpv1.KeyValueList{}
	for _, a := range []struct{ key, value string }{
		{"mesh", d.Mesh}, {"zone", p.Zone()}, {"dataplane", d.KRI("")}, {"service", p.Service()},
	} {
		if a.value != "" {
			list.Values = append(list.Values, &otlpv1.KeyValue{Key: a.key, Value: stringValue(a.value)})
		}
	}
	return list
}
