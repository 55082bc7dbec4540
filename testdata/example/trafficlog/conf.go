package trafficlog

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf is what a TrafficLog sets for an outbound, or for an inbound.
//
//confgen:conf
type Conf struct {
	// Backends are where lines are written to.
	Backends []Backend `json:"backends,omitzero"`
}

// Backend is a backend of the Mesh, by its name.
type Backend struct {
	Name string `json:"name"`
}
