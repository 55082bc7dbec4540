package meshretry

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// HTTPRetryOn is one cause of a retry: a named cause, a status code (503), or a method
// (HttpMethodGet: only requests with this method are retried).
//
//confgen:openapi {"pattern": "^([1-5][0-9][0-9]|5xx|GatewayError|Reset|Retriable4xx|ConnectFailure|EnvoyRatelimited|RefusedStream|Http3PostConnectFailure|HttpMethod(Connect|Delete|Get|Head|Options|Patch|Post|Put|Trace))$"}
type HTTPRetryOn string

// The named causes.
const (
	All5xx                  HTTPRetryOn = "5xx"
	GatewayError            HTTPRetryOn = "GatewayError"
	Reset                   HTTPRetryOn = "Reset"
	Retriable4xx            HTTPRetryOn = "Retriable4xx"
	ConnectFailure          HTTPRetryOn = "ConnectFailure"
	EnvoyRatelimited        HTTPRetryOn = "EnvoyRatelimited"
	RefusedStream           HTTPRetryOn = "RefusedStream"
	HTTP3PostConnectFailure HTTPRetryOn = "Http3PostConnectFailure"
	HTTPMethodConnect       HTTPRetryOn = "HttpMethodConnect"
	HTTPMethodDelete        HTTPRetryOn = "HttpMethodDelete"
	HTTPMethodGet           HTTPRetryOn = "HttpMethodGet"
	HTTPMethodHead          HTTPRetryOn = "HttpMethodHead"
	HTTPMethodOptions       HTTPRetryOn = "HttpMethodOptions"
	HTTPMethodPatch         HTTPRetryOn = "HttpMethodPatch"
	HTTPMethodPost          HTTPRetryOn = "HttpMethodPost"
	HTTPMethodPut           HTTPRetryOn = "HttpMethodPut"
	HTTPMethodTrace         HTTPRetryOn = "HttpMethodTrace"
)

var httpRetryWords = conf.Words(
	All5xx, GatewayError, Reset, Retriable4xx, ConnectFailure, EnvoyRatelimited, RefusedStream, HTTP3PostConnectFailure,
	HTTPMethodConnect, HTTPMethodDelete, HTTPMethodGet, HTTPMethodHead, HTTPMethodOptions, HTTPMethodPatch,
	HTTPMethodPost, HTTPMethodPut, HTTPMethodTrace,
)

// Status returns the status code, or false if the cause is not one.
func (r HTTPRetryOn) Status() (int, bool) {
	code, err := strconv.Atoi(string(r))
	return code, err == nil && http.StatusText(code) != ""
}

// Validate accepts the named causes and every HTTP status code.
func (r HTTPRetryOn) Validate(at *diag.At) {
	if _, isStatus := r.Status(); isStatus || slices.Contains(httpRetryWords, string(r)) {
		return
	}
	hint := cmp.Or(diag.DidYouMean(string(r), httpRetryWords), `write a word such as "5xx" or GatewayError, or a status such as "503"`)
	at.Errorf(diag.UnknownValue, hint, "unknown value %q", string(r))
}

// GRPCRetryOn is a gRPC status that causes a retry.
type GRPCRetryOn string

// The statuses.
const (
	Canceled          GRPCRetryOn = "Canceled"
	DeadlineExceeded  GRPCRetryOn = "DeadlineExceeded"
	Internal          GRPCRetryOn = "Internal"
	ResourceExhausted GRPCRetryOn = "ResourceExhausted"
	Unavailable       GRPCRetryOn = "Unavailable"
)

// Enum returns the allowed values.
func (GRPCRetryOn) Enum() []string {
	return conf.Words(Canceled, DeadlineExceeded, Internal, ResourceExhausted, Unavailable)
}
