package translators

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/kind/meshretry"
)

// The causes of retries where a conf has none.
const (
	defaultRequestCauses = "gateway-error,connect-failure,refused-stream"
	defaultCallCauses    = "cancelled,connect-failure,gateway-error,refused-stream,reset,resource-exhausted,unavailable"
)

var requestWords = map[meshretry.HTTPRetryOn]string{
	meshretry.All5xx:                  "5xx",
	meshretry.GatewayError:            "gateway-error",
	meshretry.Reset:                   "reset",
	meshretry.Retriable4xx:            "retriable-4xx",
	meshretry.ConnectFailure:          "connect-failure",
	meshretry.EnvoyRatelimited:        "envoy-ratelimited",
	meshretry.RefusedStream:           "refused-stream",
	meshretry.HTTP3PostConnectFailure: "http3-post-connect-failure",
}

var callWords = map[meshretry.GRPCRetryOn]string{
	meshretry.Canceled:          "cancelled",
	meshretry.DeadlineExceeded:  "deadline-exceeded",
	meshretry.Internal:          "internal",
	meshretry.ResourceExhausted: "resource-exhausted",
	meshretry.Unavailable:       "unavailable",
}

// causes are what a request is retried for.
type causes struct {
	words    string   // Envoy's, separated by commas
	statuses []uint32 // that cause a retry, in addition
	methods  []string // of requests that may be retried; nil for all
}

// requestCauses returns the causes of retries of HTTP requests. ByHeader reports that
// a response header is one.
func requestCauses(retryOn []meshretry.HTTPRetryOn, byHeader bool) (c causes) {
	var words []string
	for _, on := range retryOn {
		status, isStatus := on.Status()
		method, isMethod := strings.CutPrefix(string(on), "HttpMethod")
		switch {
		case isStatus:
			c.statuses = append(c.statuses, uint32(status))
		case isMethod:
			c.methods = append(c.methods, strings.ToUpper(method))
		default:
			words = append(words, requestWords[on])
		}
	}
	if len(words) == 0 && c.statuses == nil {
		words = append(words, defaultRequestCauses)
	}
	if c.statuses != nil {
		words = append(words, "retriable-status-codes")
	}
	if byHeader {
		words = append(words, "retriable-headers")
	}
	c.words = strings.Join(words, ",")
	return c
}

// callCauses returns the causes of retries of gRPC calls.
func callCauses(retryOn []meshretry.GRPCRetryOn) string {
	if len(retryOn) == 0 {
		return defaultCallCauses
	}
	var words []string
	for _, on := range retryOn {
		words = append(words, callWords[on])
	}
	return strings.Join(words, ",")
}
