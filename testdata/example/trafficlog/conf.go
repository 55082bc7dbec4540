package trafficlog

//go:generate go tool confgen

// Conf is the conf of a TrafficLog for an outbound or an inbound.
//
//confgen:conf schema
type Conf struct {
	// Backends are the backends to which lines are written.
	Backends []Backend `json:"backends,omitzero"`
}

// Backend refers to a backend of the Mesh by its name.
type Backend struct {
	Name string `json:"name"`
}
