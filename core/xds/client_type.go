package xds

// A ClientType is the implementation of xDS that a node has, which determines the
// resources that it can use.
type ClientType uint8

// The client types.
const (
	Envoy ClientType = iota
	// ProxylessGRPC is a process that has gRPC instead of Envoy, as client, as server or as
	// both. It gets fewer resources, in the form that gRPC accepts (SPEC 11.4).
	ProxylessGRPC
)
