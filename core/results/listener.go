package results

// ListenerConfig is the configuration of a listener of a builtin gateway or of a zone proxy
// by the policies of one kind (SPEC 17.3).
type ListenerConfig struct {
	// To is the conf of requests that the listener receives, by `to` items of kind Mesh; nil
	// if there is none, for a route kind, and for a zone proxy.
	To *Effective
	// Hosts are the routes of the requests for each host name, sorted by name.
	Hosts []HostConfig
	// Inbound has the rules of the listener. It is empty for kinds whose `from` does not
	// apply to gateways.
	Inbound *InboundConfig
}

// HostConfig contains the routes of the requests for a host name.
type HostConfig struct {
	Hostname string // * for routes without a host name
	*Effective
}
