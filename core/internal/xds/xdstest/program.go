package xdstest

// A Program is what decides how a [Model] asks: each field is a difference between real clients.
//
// Envoy follows two chains, clusters → endpoints and listeners → routes. It selects the first of
// each by wildcard:
//
//	start ──> CDS ──(all clusters are warm)──> LDS
//	reconnect ──> all types at once, with the versions of what is held
//	CDS: a new or changed cluster ──> warming ──(its endpoints come)──> active
//	                                     └──(15 s)──> active; without endpoints it answers 503
//	     a new cluster subscribes its endpoints, a removed one unsubscribes them;
//	     the ACK is sent when no cluster warms
//	LDS: a new listener subscribes its routes, a removed one unsubscribes them; ACKed at once
//	EDS, RDS: ACKed at once
//
// A gRPC client speaks the state of the world. It follows one chain, listeners → routes →
// clusters → endpoints, all by name, and begins with the names of the services that it calls:
//
//	a response ──> ACK ──> the names that what it holds now refers to
//	reconnect ──> a request for each type that has names, in any order
//
// It does not read resource_errors (grpc-go), or only on request (C-core, SPEC 12.2).
//
// Two behaviors of real programs are not modeled, and the server does not converge for them yet:
//   - an Envoy that reconnects while clusters warm asks for endpoints alone, and for clusters when
//     they are warm (envoy#9934);
//   - grpc-java before 1.66 sends nothing when the last name of a type goes. If the same name
//     returns, its request looks like a second ACK (grpc-java#11232).
type Program struct {
	Name string
	// Delta selects the protocol.
	Delta bool
	// GRPC selects the chain; the other one is Envoy's.
	GRPC bool
	// KeepsEndpoints: a changed cluster that got no endpoints for 15 s takes those of the
	// previous one. Envoy has such a cache by default since 1.32.
	KeepsEndpoints bool
	// OneRequest: names that come and names that go are sent in one request, as C-core does.
	// The others add names by one request and remove names by the next.
	OneRequest bool
}

// Programs returns the programs that models behave as.
func Programs() []Program {
	return []Program{
		{Name: "envoy delta", Delta: true, OneRequest: true},
		{Name: "envoy delta with cache", Delta: true, OneRequest: true, KeepsEndpoints: true},
		{Name: "envoy sotw", OneRequest: true},
		{Name: "envoy sotw with cache", OneRequest: true, KeepsEndpoints: true},
		{Name: "grpc-go and grpc-java", GRPC: true},
		{Name: "grpc-core", GRPC: true, OneRequest: true},
	}
}

// userAgent returns the names by which a server knows the program.
func (p Program) userAgent() string {
	if p.GRPC {
		return "gRPC Go"
	}
	return "envoy"
}
