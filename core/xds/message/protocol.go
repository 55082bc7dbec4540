package message

// A Protocol is what is spoken with a service.
type Protocol string

// The protocols. Any other value of a tag is TCP.
const (
	TCP   Protocol = "tcp"
	HTTP  Protocol = "http"
	HTTP2 Protocol = "http2"
	GRPC  Protocol = "grpc"
)

// ProtocolOf returns the protocol with a name, which may be empty.
func ProtocolOf(name string) Protocol {
	switch p := Protocol(name); p {
	case HTTP, HTTP2, GRPC:
		return p
	}
	return TCP
}

// IsHTTP reports whether requests are visible to the proxy.
func (p Protocol) IsHTTP() bool { return p != TCP }

// IsHTTP2 reports whether the proxy speaks HTTP/2 upstream.
func (p Protocol) IsHTTP2() bool { return p == HTTP2 || p == GRPC }
