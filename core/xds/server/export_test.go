package server

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/grpc/encoding"
	"google.golang.org/protobuf/proto"
)

// Deliver gives a request to what a stream's RecvMsg is called with.
func Deliver(to any, request proto.Message) { to.(*inbox).message = request }

// VersionOfNode returns the version that a node states.
func VersionOfNode(node *corev3.Node) string { return versionOfNode(node) }

// NewCodec returns the codec of Server.GRPCOptions.
func NewCodec() encoding.CodecV2 { return newCodec() }

// Receipt returns the type URL, the version and the nonce of a response.
func Receipt(m any) (url, version, nonce string) {
	r := m.(*response)
	return r.body.message.url, r.body.message.version, string(r.suffix[2:])
}

// Charged returns the bytes that all clients are charged.
func (s *Server) Charged() int {
	bytes, _, _ := s.guard.Usage()
	return bytes
}

// Clients returns the number of clients that have a budget. That of r.conn, if it is connected,
// is one of them.
func (s *Server) Clients() int {
	_, clients, _ := s.guard.Usage()
	return clients
}

// Arriving returns the number of connections that have not begun HTTP/2.
func (s *Server) Arriving() int {
	_, _, arriving := s.guard.Usage()
	return arriving
}

// LimitArriving sets the limits on connections that have not begun HTTP/2, of one address and
// of all.
func (s *Server) LimitArriving(one, all int) { s.guard.LimitArriving(one, all) }
