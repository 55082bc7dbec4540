package check

import "github.com/meshmatch/meshmatch/core/diag"

// builtinGateways reports builtin gateways with a MeshGateway, once at the first: policies
// and routes of their listeners are in answers, but not in Envoy (SPEC 17.3).
func (m *meshCheck) builtinGateways() {
	var w diag.Diagnostic
	count := 0
	for _, d := range m.dataplanes {
		if len(d.GatewayListeners()) == 0 {
			continue
		}
		if count++; count == 1 {
			w = diag.Diagnostic{
				Code: diag.FieldNotUsed, Pos: d.Pos, Path: "networking.gateway.type", Serve: true,
				What: "the listeners and routes of a builtin gateway are matched and shown, but not configured in its proxy here",
				Hint: "let Kuma configure builtin gateways, or use a delegated one",
			}
		}
	}
	switch {
	case count == 0:
		return
	case count > 1:
		w.What += "; the mesh has " + diag.Count(count, "such gateway")
	}
	m.warn(w)
}
