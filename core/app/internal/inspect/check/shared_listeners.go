package check

import (
	"cmp"
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// sharedListeners warns of each inbound that shares the listener of another one, and has
// another protocol, workload or name than the listener (SPEC 1.3).
func (m *meshCheck) sharedListeners() {
	for _, d := range m.dataplanes {
		for i := range d.SharedListeners() {
			what := differsFromListener(&d.Inbounds[i], &d.Inbounds[d.ListenerOf(i)])
			if what == "" {
				continue
			}
			m.warn(diag.Diagnostic{
				Code: diag.SharedListener, Pos: d.Pos, Path: fmt.Sprintf("networking.inbound[%d]", i),
				What: fmt.Sprintf("it is one listener with inbound[%d], and %s", d.ListenerOf(i), what),
				Hint: "write both inbounds alike, or give them ports of their own",
			})
		}
	}
}

// differsFromListener returns how an inbound differs from the inbound of its listener; "" if it
// does not.
func differsFromListener(in, listener *resource.Inbound) string {
	protocol := func(in *resource.Inbound) string {
		return cmp.Or(in.Protocol, in.Tags.Value(resource.ProtocolTag), "tcp")
	}
	workload := func(in *resource.Inbound) string {
		return fmt.Sprintf("%s:%d", cmp.Or(in.ServiceAddress, resource.DefaultOutboundAddress), cmp.Or(in.ServicePort, in.Port))
	}
	for _, property := range []struct {
		name string
		of   func(*resource.Inbound) string
	}{{"protocol", protocol}, {"workload", workload}, {"name", (*resource.Inbound).SectionName}} {
		if own, has := property.of(in), property.of(listener); own != has {
			return fmt.Sprintf("its %s %s has no effect: the listener has %s", property.name, own, has)
		}
	}
	return ""
}
