package shapes

import "time"

// Timeout has the shape of MeshTimeout: pointers to scalars, one struct deep.
//
//confgen:conf hash clone
type Timeout struct {
	ConnectionTimeout *time.Duration `json:"connectionTimeout,omitzero"`
	IdleTimeout       *time.Duration `json:"idleTimeout,omitzero"`
	HTTP              *TimeoutHTTP   `json:"http,omitzero"`
}

// TimeoutHTTP is the part of a Timeout for HTTP.
type TimeoutHTTP struct {
	RequestTimeout        *time.Duration `json:"requestTimeout,omitzero"`
	StreamIdleTimeout     *time.Duration `json:"streamIdleTimeout,omitzero"`
	MaxStreamDuration     *time.Duration `json:"maxStreamDuration,omitzero"`
	MaxConnectionDuration *time.Duration `json:"maxConnectionDuration,omitzero"`
	RequestHeadersTimeout *time.Duration `json:"requestHeadersTimeout,omitzero"`
}
