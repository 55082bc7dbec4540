package xds

// A ClientType is the xDS implementation of a node. It determines the resources that the
// node can use.
type ClientType uint8

// The client types.
const (
	Envoy ClientType = iota
	// ProxylessGRPC is a process that uses gRPC instead of Envoy, as client, server or
	// both. It gets fewer resources, in the form that gRPC accepts (SPEC 11.4).
	ProxylessGRPC
)
