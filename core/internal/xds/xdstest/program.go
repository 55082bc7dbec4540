package xdstest

import corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

// A Program is what decides how a [Model] asks: each field is a difference between real clients.
//
// Envoy follows two chains, clusters → endpoints and listeners → routes and extensions. It selects
// the first of each by wildcard:
//
//	start ──> CDS ──(all clusters are warm)──> LDS
//	reconnect ──> all types at once, with the versions of what is held, but CDS not before the
//	     clusters are warm (envoy#9934)
//	CDS: a new or changed cluster ──> warming ──(its endpoints come)──> active
//	                                     └──(15 s)──> active; without endpoints it answers 503
//	     a new cluster subscribes its endpoints, a removed one unsubscribes them; in state of the
//	     world a changed one repeats the request for endpoints;
//	     the ACK is sent when no cluster warms
//	LDS: a new listener subscribes its routes and extensions; a replaced or removed one drains, and
//	     unsubscribes them after the drain time; ACKed at once
//	EDS, RDS, ECDS: ACKed at once
//
// A gRPC client speaks the state of the world. It follows one chain, listeners → routes →
// clusters → endpoints, all by name, and begins with the names of the services that it calls:
//
//	a response ──> ACK ──> the names that what it holds now refers to
//	reconnect ──> a request for each type that has names, in any order
//
// It does not read resource_errors (grpc-go), or only on request (C-core, SPEC 12.2).
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
	// KeepsLastName: nothing is sent when the last name of a type goes. If the same name returns,
	// its request looks like a second ACK, as that of grpc-java before 1.66 (grpc-java#11232).
	KeepsLastName bool
	// IgnoresUnasked: a response of a type without names is not answered, and its nonce and version
	// are not kept, as by grpc-java (grpc-java#11232).
	IgnoresUnasked bool
	// UserAgent and Version are the node's.
	UserAgent, Version string
}

// Programs returns the programs that models behave as.
func Programs() []Program {
	return []Program{
		{Name: "envoy delta", Delta: true, OneRequest: true, UserAgent: "envoy", Version: "1.40.0"},
		{Name: "envoy delta with cache", Delta: true, OneRequest: true, KeepsEndpoints: true, UserAgent: "envoy", Version: "1.38.3"},
		{Name: "envoy sotw", OneRequest: true, UserAgent: "envoy", Version: "1.36.4"},
		{Name: "envoy sotw with cache", OneRequest: true, KeepsEndpoints: true, UserAgent: "envoy", Version: "1.40.0"},
		{Name: "grpc-go", GRPC: true, UserAgent: "gRPC Go", Version: "1.84.0"},
		{Name: "grpc-java", GRPC: true, IgnoresUnasked: true, UserAgent: "gRPC Java", Version: "1.76.0"},
		{Name: "grpc-java before 1.66", GRPC: true, KeepsLastName: true, IgnoresUnasked: true, UserAgent: "gRPC Java", Version: "1.65.1"},
		{Name: "grpc-core", GRPC: true, OneRequest: true, UserAgent: "gRPC C-core", Version: "1.85.0"},
	}
}

// NodeOf returns a node of a program, by its number.
func NodeOf(id string, number int) *corev3.Node {
	p := Programs()[number%len(Programs())]
	return &corev3.Node{Id: id, UserAgentName: p.UserAgent, UserAgentVersionType: &corev3.Node_UserAgentVersion{UserAgentVersion: p.Version}}
}
