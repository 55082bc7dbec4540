package xds

import "strings"

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

// ClientOf returns the type of a node by its user agent, such as "gRPC Go" (SPEC 11.4).
func ClientOf(userAgent string) ClientType {
	if strings.HasPrefix(userAgent, "gRPC") {
		return ProxylessGRPC
	}
	return Envoy
}
