package message

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// SocketAddress returns a TCP address.
func SocketAddress(host string, port uint32) *corev3.Address {
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address: host, PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port},
	}}}
}
