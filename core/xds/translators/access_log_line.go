package translators

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	celv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/formatter/cel/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// The lines where a policy sets no format. Envoy's own lack the services.
//
// A client chooses the text of its headers. A line has no header with which a client could
// overwrite another field, such as x-envoy-original-path. All others are quoted, with
// quotes and backslashes escaped, so that no client ends a field. A header has no newline.
// The time of the upstream is set by the router, and the id of the trace by the tracer,
// which reads hexadecimal digits only.
var (
	httpLine = `[%START_TIME%] %KUMA_MESH% "` + escapedHeader(":method") + ` ` + escapedHeader(":path") + ` %PROTOCOL%" ` +
		`%RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESPONSE_HEADER(X-ENVOY-UPSTREAM-SERVICE-TIME)% ` +
		`"` + escapedHeader("x-forwarded-for") + `" "` + escapedHeader("user-agent") + `" "%TRACE_ID%" ` +
		`"` + escapedHeader("x-request-id") + `" "` + escapedHeader(":authority") + `" ` +
		`"%KUMA_SOURCE_SERVICE%" "%KUMA_DESTINATION_SERVICE%" "%KUMA_SOURCE_ADDRESS_WITHOUT_PORT%" "%UPSTREAM_HOST%"`
	tcpLine = `[%START_TIME%] %KUMA_MESH% %RESPONSE_FLAGS% %KUMA_SOURCE_ADDRESS_WITHOUT_PORT%(%KUMA_SOURCE_SERVICE%)->` +
		`%UPSTREAM_HOST%(%KUMA_DESTINATION_SERVICE%) took %DURATION%ms, sent %BYTES_SENT% bytes, received %BYTES_RECEIVED% bytes`
)

// defaultLine returns the format of a line, without its newline. That of HTTP needs
// escapeFormatters.
func defaultLine(http bool) string {
	if http {
		return httpLine
	}
	return tcpLine
}

// escapedHeader returns the operator for a header of a request with escaped quotes and
// backslashes; an absent header is "-".
func escapedHeader(name string) string {
	return `%CEL(request.headers['` + name + `'].replace('\\','\\\\').replace('\"','\\\"'))%`
}

// escapeFormatters returns what makes the operators of escapedHeader known to Envoy.
func escapeFormatters() []*corev3.TypedExtensionConfig {
	return []*corev3.TypedExtensionConfig{{
		Name:        "envoy.formatter.cel",
		TypedConfig: message.Any(&celv3.Cel{CelConfig: &corev3.CelExpressionConfig{EnableStringFunctions: true}}),
	}}
}
