package check

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// httpOnTCP warns of the HTTP fields of `to` items that apply only to TCP
// outbounds (SPEC 11.3).
func (m *meshCheck) httpOnTCP() {
	h := httpItems{tcp: map[httpField]bool{}, other: map[httpField]bool{}}
	seen := map[effectiveOn]bool{}
	for _, config := range m.configs {
		if config.Kind.To == nil || len(config.Kind.To.HTTPFields) == 0 {
			continue
		}
		for i := range config.Outbounds {
			on := effectiveOn{config.Outbounds[i].Effective, m.workloads().onlyTCP(config.dataplane.Outbounds[config.Outbounds[i].Index].Tags)}
			if on.Effective != nil && !seen[on] {
				seen[on] = true
				h.add(on, config.Kind.To.HTTPFields)
			}
		}
	}
	m.warnHTTP(&h)
}

// effectiveOn is a conf with the protocol of an outbound to which it applies.
type effectiveOn struct {
	*results.Effective
	tcp bool
}

// onlyTCP reports whether all endpoints of an outbound with the given tags are TCP. It
// returns false for an outbound without endpoints, which may get HTTP endpoints.
func (w *workloads) onlyTCP(tags resource.Tags) bool {
	if protocol, given := tags.Get(resource.ProtocolTag); given {
		in := resource.Inbound{Protocol: protocol}
		return !in.IsHTTP()
	}
	endpoints := 0
	for endpoint := range w.with(tags) {
		if endpoints++; endpoint.http {
			return false
		}
	}
	return endpoints > 0
}

// httpField is an HTTP field that an item sets.
type httpField struct {
	item  results.Origin
	field string
}

// httpItems collects the HTTP fields that items set.
type httpItems struct {
	tcp   map[httpField]bool // for a TCP outbound
	other map[httpField]bool // for another outbound
}

func (h *httpItems) add(on effectiveOn, fields []string) {
	for pointer, origin := range on.Fields() {
		for _, field := range fields {
			if !strings.HasPrefix(pointer+"/", field+"/") {
				continue
			}
			if set := (httpField{origin, field}); on.tcp {
				h.tcp[set] = true
			} else {
				h.other[set] = true
			}
		}
	}
}

func (m *meshCheck) warnHTTP(h *httpItems) {
	for set := range h.tcp {
		if h.other[set] {
			continue
		}
		pos, path := items.ItemPlace{Origin: set.item, Array: inTo}.Field(set.field)
		m.warn(diag.Diagnostic{
			Code: diag.HTTPOnTCP,
			Pos:  pos, Path: path,
			What: "has no effect: every outbound that the item applies to is TCP",
			Hint: "set the protocol of the inbounds of the service, such as protocol: http",
		})
	}
}
