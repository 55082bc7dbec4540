package message

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
)

// SocketAddress returns a TCP address.
func SocketAddress(host string, port uint32) *corev3.Address {
	var m struct {
		address corev3.Address
		kind    corev3.Address_SocketAddress
		socket  corev3.SocketAddress
		port    corev3.SocketAddress_PortValue
	}
	m.port.PortValue = port
	m.socket.Address, m.socket.PortSpecifier = host, &m.port
	m.kind.SocketAddress = &m.socket
	m.address.Address = &m.kind
	return &m.address
}
