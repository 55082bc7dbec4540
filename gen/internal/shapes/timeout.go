package shapes

// Duration is a time in nanoseconds.
type Duration int64

// Timeout has the shape of MeshTimeout: pointers to scalars, one struct deep.
//
//confgen:conf hash clone
type Timeout struct {
	ConnectionTimeout *Duration    `json:"connectionTimeout,omitzero"`
	IdleTimeout       *Duration    `json:"idleTimeout,omitzero"`
	HTTP              *TimeoutHTTP `json:"http,omitzero"`
}

// TimeoutHTTP is the part of a Timeout for HTTP.
type TimeoutHTTP struct {
	RequestTimeout        *Duration `json:"requestTimeout,omitzero"`
	StreamIdleTimeout     *Duration `json:"streamIdleTimeout,omitzero"`
	MaxStreamDuration     *Duration `json:"maxStreamDuration,omitzero"`
	MaxConnectionDuration *Duration `json:"maxConnectionDuration,omitzero"`
	RequestHeadersTimeout *Duration `json:"requestHeadersTimeout,omitzero"`
}
