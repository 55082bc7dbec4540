package message

import "time"

// The timeouts that apply if no policy sets them (SPEC 11.2). Envoy's own defaults are
// never used.
const (
	OutboundConnectTimeout    = 5 * time.Second
	OutboundRequestTimeout    = 15 * time.Second
	OutboundIdleTimeout       = time.Hour
	OutboundStreamIdleTimeout = 30 * time.Minute

	InboundConnectTimeout    = 10 * time.Second
	InboundRequestTimeout    = time.Duration(0) // none
	InboundIdleTimeout       = 2 * time.Hour
	InboundStreamIdleTimeout = time.Hour
)
