package meshretry

import "github.com/meshmatch/meshmatch/core/conf"

//go:generate go run github.com/meshmatch/meshmatch/cmd/confgen

// Conf contains the settings of a MeshRetry for each protocol.
//
//confgen:conf hash schema
//confgen:openapi {"minProperties": 1}
type Conf struct {
	TCP  *TCP  `json:"tcp,omitzero"`
	HTTP *HTTP `json:"http,omitzero"`
	GRPC *GRPC `json:"grpc,omitzero"`
}

// TCP configures the retries of connections.
//
//confgen:openapi {"minProperties": 1}
type TCP struct {
	// MaxConnectAttempt is the number of attempts, including the first one.
	MaxConnectAttempt *conf.Count `json:"maxConnectAttempt,omitzero"`
}

// HTTP configures the retries of HTTP requests.
//
//confgen:openapi {"minProperties": 1, "allOf": [{"properties": {"hostSelectionMaxAttempts": {"minimum": 1}}}]}
type HTTP struct {
	// NumRetries is the number of attempts after the first one.
	NumRetries *uint32 `json:"numRetries,omitzero"`
	// PerTryTimeout limits the time of one attempt; zero means the timeout of the
	// request.
	PerTryTimeout      *conf.Duration      `json:"perTryTimeout,omitzero"`
	BackOff            *BackOff            `json:"backOff,omitzero"`
	RateLimitedBackOff *RateLimitedBackOff `json:"rateLimitedBackOff,omitzero"`
	// RetryOn contains the causes of a retry; each is sufficient.
	RetryOn []HTTPRetryOn `json:"retryOn,omitzero"`
	// RetriableResponseHeaders cause a retry if any of them holds.
	RetriableResponseHeaders []conf.HeaderMatch `json:"retriableResponseHeaders,omitzero"`
	// RetriableRequestHeaders limit retries to requests for which any of them holds.
	RetriableRequestHeaders []conf.HeaderMatch `json:"retriableRequestHeaders,omitzero"`
	// HostSelection determines which hosts a retry skips.
	HostSelection HostSelection `json:"hostSelection,omitzero"`
	// HostSelectionMaxAttempts is the maximum number of times that a host is chosen; if
	// HostSelection skips all of them, the last host is used.
	HostSelectionMaxAttempts *int64 `json:"hostSelectionMaxAttempts,omitzero"`
}

// GRPC configures the retries of gRPC calls, with the same fields as [HTTP].
//
//confgen:openapi {"minProperties": 1}
type GRPC struct {
	NumRetries         *uint32             `json:"numRetries,omitzero"`
	PerTryTimeout      *conf.Duration      `json:"perTryTimeout,omitzero"`
	BackOff            *BackOff            `json:"backOff,omitzero"`
	RateLimitedBackOff *RateLimitedBackOff `json:"rateLimitedBackOff,omitzero"`
	RetryOn            []GRPCRetryOn       `json:"retryOn,omitzero"`
}

// BackOff is the time between attempts, which grows exponentially.
//
//confgen:openapi {"minProperties": 1}
type BackOff struct {
	BaseInterval *conf.PositiveDuration `json:"baseInterval,omitzero"`
	MaxInterval  *conf.PositiveDuration `json:"maxInterval,omitzero"`
}

// RateLimitedBackOff determines the headers of a response that may contain the
// time until the next attempt; the first header that can be parsed is used.
//
//confgen:openapi {"required": ["resetHeaders"]}
type RateLimitedBackOff struct {
	ResetHeaders []ResetHeader          `json:"resetHeaders,omitzero"`
	MaxInterval  *conf.PositiveDuration `json:"maxInterval,omitzero"`
}

// ResetHeader is a header that contains the time of the next attempt.
type ResetHeader struct {
	Name   conf.HeaderName `json:"name"`
	Format ResetFormat     `json:"format"`
}

// ResetFormat is the format of a [ResetHeader].
type ResetFormat string

// The formats: seconds from now, or a point in time in seconds since 1970.
const (
	Seconds       ResetFormat = "Seconds"
	UnixTimestamp ResetFormat = "UnixTimestamp"
)

// Enum returns the allowed values.
func (ResetFormat) Enum() []string { return conf.Words(Seconds, UnixTimestamp) }
