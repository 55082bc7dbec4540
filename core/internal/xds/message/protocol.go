package message

// A Protocol is the application protocol of a service.
type Protocol string

// The protocols. Any other value of the protocol tag means TCP.
const (
	TCP   Protocol = "tcp"
	HTTP  Protocol = "http"
	HTTP2 Protocol = "http2"
	GRPC  Protocol = "grpc"
)

// ProtocolOf returns the protocol of a name, which may be empty; TCP if it is unknown.
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
