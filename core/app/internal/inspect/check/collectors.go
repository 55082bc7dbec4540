package check

import (
	"fmt"
	"iter"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// collectors warns of references to collectors that find none, and of what proxies do not
// do with a MeshOpenTelemetryBackend (SPEC 17.3).
func (m *meshCheck) collectors() {
	set := m.view.Collectors(m.mesh)
	for _, p := range m.policies {
		for at, c := range confsOf(p) {
			for pointer, ref := range conf.CollectorRefs(c) {
				if _, ok := set.Find(ref); ok {
					continue
				}
				at.Pointer = pointer
				hint := "load the MeshOpenTelemetryBackend, or check its labels"
				switch {
				case ref.Name != nil && m.view.Semantics() == semantics.Kuma3:
					hint = fmt.Sprintf("%s finds it by labels alone; write labels: {%s: %s}", m.view.Semantics(), resource.DisplayNameLabel, *ref.Name)
				case ref.Name != nil:
					hint = "load the MeshOpenTelemetryBackend, or check its name"
				}
				m.warn(diag.Diagnostic{
					Code: diag.UnresolvedReference, Pos: fieldPosition(p, at), Path: fieldPath(p, at),
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

// confsOf yields the confs of the items of a policy, each with its place, which has no
// pointer.
func confsOf(p *resource.Policy) iter.Seq2[resource.UnreadField, resource.Conf] {
	return func(yield func(resource.UnreadField, resource.Conf) bool) {
		if p.Default != nil && !yield(resource.UnreadField{Array: "default"}, p.Default) {
			return
		}
		for _, array := range []struct {
			name  string
			items []resource.Item
		}{{"to", p.To}, {"from", p.From}} {
			for i := range array.items {
				if !yield(resource.UnreadField{Array: array.name, Index: i}, array.items[i].Conf) {
					return
				}
			}
		}
		for i := range p.Rules {
			if !yield(resource.UnreadField{Array: "rules", Index: i}, p.Rules[i].Conf) {
				return
			}
		}
	}
}
