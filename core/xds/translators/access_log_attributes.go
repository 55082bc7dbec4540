package translators

import (
	otlpv1 "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/meshmatch/meshmatch/core/resource"
)

// proxyAttributes is which proxy wrote a log record: the attributes of the resource in
// OpenTelemetry.
type proxyAttributes struct {
	mesh, zone string
	dataplane  *resource.Dataplane
	service    string
}

// list returns those that the proxy has.
func (p proxyAttributes) list() *otlpv1.KeyValueList {
	list := &otlpv1.KeyValueList{}
	for _, a := range []struct{ key, value string }{
		{"mesh", p.mesh}, {"zone", p.zone}, {"dataplane", p.dataplane.KRI("")}, {"service", p.service},
	} {
		if a.value != "" {
			list.Values = append(list.Values, &otlpv1.KeyValue{Key: a.key, Value: stringValue(a.value)})
		}
	}
	return list
}
