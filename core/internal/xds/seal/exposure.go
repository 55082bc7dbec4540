package seal

import (
	"net/netip"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// exposureFields are the fields of a listener that decide which clients reach it.
var exposureFields = []protoreflect.Name{
	"address", "additional_addresses", "bind_to_port", "deprecated_v1", "internal_listener", "api_listener",
	"use_original_dst", "transparent", "freebind", "socket_options",
}

// IsMoved reports whether a change of a listener changes which clients may reach it (SPEC
// 11.5).
func IsMoved(before, after *listenerv3.Listener) bool {
	return slices.ContainsFunc(differences(before, after, nil), func(field protoreflect.Name) bool {
		return slices.Contains(exposureFields, field)
	})
}

// IsBeyondLoopback reports whether a listener accepts connections at an address that other
// machines may reach. Connections are redirected to a listener that is not bound.
func IsBeyondLoopback(l *listenerv3.Listener) bool {
	if l.BindToPort != nil && !l.BindToPort.Value {
		return false
	}
	return slices.ContainsFunc(addresses(l), func(a *corev3.SocketAddress) bool {
		ip, err := netip.ParseAddr(a.Address)
		return err != nil || !ip.Unmap().IsLoopback()
	})
}
