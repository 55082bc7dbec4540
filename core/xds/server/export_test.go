package server

import "google.golang.org/grpc/encoding"

// NewCodec returns the codec of Server.GRPCOptions.
func NewCodec() encoding.CodecV2 { return newCodec() }

// Receipt returns the type URL, the version and the nonce of a response.
func Receipt(m any) (url, version, nonce string) {
	r := m.(*response)
	return r.body.message.url, r.body.message.version, string(r.suffix[2:])
}
