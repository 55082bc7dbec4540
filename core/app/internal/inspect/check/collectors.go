package check

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/items"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// collectors warns of references to collectors that find none, and of what proxies do not
// do with a MeshOpenTelemetryBackend (SPEC 17.3).
func (m *meshCheck) collectors() {
	set := m.view.Collectors(m.mesh)
	for _, p := range m.policies {
		for _, item := range items.WrittenItems(p) {
			for pointer, ref := range conf.CollectorRefs(item.Conf) {
				if _, ok := set.Find(ref); ok {
					continue
				}
				hint := "load the MeshOpenTelemetryBackend, or check its labels"
				switch {
				case ref.Name != nil && m.view.Semantics() == semantics.Kuma3:
					hint = fmt.Sprintf("%s finds it by labels alone; write labels: {%s: %s}", m.view.Semantics(), resource.DisplayNameLabel, *ref.Name)
				case ref.Name != nil:
					hint = "load the MeshOpenTelemetryBackend, or check its name"
				}
				pos, path := item.Field(pointer)
				m.warn(diag.Diagnostic{
					Code: diag.UnresolvedReference, Pos: pos, Path: path,
					What: "no MeshOpenTelemetryBackend is found, so nothing is sent", Hint: hint,
				})
			}
		}
	}
	for _, b := range resource.ObjectsOf[*resource.MeshOpenTelemetryBackend](m.view.Objects(m.mesh)) {
		if b.Namespace != "" && (b.Spec.Endpoint == nil || b.Spec.Endpoint.Address == nil) {
			m.warn(diag.Diagnostic{
				Code: diag.UnknownNode, Pos: b.Pos, Path: "spec.endpoint.address", Serve: true,
				What: fmt.Sprintf("proxies send to 127.0.0.1, because no resource names the nodes on which they run: %s", b.Qualified()),
				Hint: "write the address of the collector, such as the host name of its Service",
			})
		}
		if b.Spec.Env != nil {
			m.warn(diag.Diagnostic{
				Code: diag.FieldNotUsed, Pos: b.Pos, Path: "spec.env", Serve: true,
				What: fmt.Sprintf("proxies read no environment, so the endpoint holds: %s", b.Qualified()), Hint: "write what the environment sets into endpoint",
			})
		}
	}
}
