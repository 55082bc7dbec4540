package meshtimeout

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshTimeout for connections and requests.
// Zero disables a timeout.
//
//confgen:conf hash schema
//confgen:openapi {"minProperties": 1, "allOf": [{"properties": {"connectionTimeout": {"pattern": "[1-9]"}}}]}
type Conf struct {
	// ConnectionTimeout limits the time to establish a connection. It is never zero.
	ConnectionTimeout *conf.Duration `json:"connectionTimeout,omitzero"`
	// IdleTimeout limits the time that a connection may be idle.
	IdleTimeout *conf.Duration `json:"idleTimeout,omitzero"`
	HTTP        *HTTP          `json:"http,omitzero"`
}

// HTTP contains the timeouts of HTTP connections, streams and requests.
//
//confgen:openapi {"minProperties": 1}
type HTTP struct {
	// RequestTimeout limits the time until the end of the response.
	RequestTimeout *conf.Duration `json:"requestTimeout,omitzero"`
	// StreamIdleTimeout limits the time that a stream may be idle.
	StreamIdleTimeout *conf.Duration `json:"streamIdleTimeout,omitzero"`
	// MaxStreamDuration limits the duration of a stream.
	MaxStreamDuration *conf.Duration `json:"maxStreamDuration,omitzero"`
	// MaxConnectionDuration limits the duration of a connection.
	MaxConnectionDuration *conf.Duration `json:"maxConnectionDuration,omitzero"`
	// RequestHeadersTimeout limits the time until a client has sent the headers.
	RequestHeadersTimeout *conf.Duration `json:"requestHeadersTimeout,omitzero"`
}
