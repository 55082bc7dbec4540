package fuzz

// addCollectors adds a few MeshOpenTelemetryBackends, with names and labels to which confs
// refer (SPEC 17.3).
func (m *meshMaker) addCollectors(s *Scenario) {
	for range m.intn(4) {
		spec := map[string]any{}
		if m.intn(2) == 1 {
			endpoint := map[string]any{}
			if m.intn(2) == 1 {
				endpoint["address"] = pick(m.choices, "10.9.9.9", "otel.example")
			}
			if m.intn(2) == 1 {
				endpoint["port"] = pick(m.choices, 443, 4318)
			}
			if spec["endpoint"] = endpoint; m.intn(2) == 1 {
				if spec["protocol"] = "http"; m.intn(2) == 1 {
					endpoint["path"] = "/tenant"
				}
			}
		}
		labels := map[string]any{"team": pick(m.choices, names[:2]...)}
		document := m.resource("MeshOpenTelemetryBackend", pick(m.choices, names[:3]...), labels, spec)
		m.setCreated(document)
		s.add(document)
	}
}
