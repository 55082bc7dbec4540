package translators

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	celv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/formatter/cel/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// The lines where a policy sets no format. Envoy's own lack the services.
//
// A client chooses the text of its headers. A line has no header with which a client could
// overwrite another field, such as x-envoy-original-path. All others are quoted, and
// one that has a quote or a backslash is left out, so that no client ends a field. A header has no newline.
// The time of the upstream is set by the router, and the id of the trace by the tracer,
// which reads hexadecimal digits only.
var (
	httpLine = `[%START_TIME%] %KUMA_MESH% "` + safeHeader(":method") + ` ` + safeHeader(":path") + ` %PROTOCOL%" ` +
		`%RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% %RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% ` +
		`"` + safeHeader("x-forwarded-for") + `" "` + safeHeader("user-agent") + `" "%TRACE_ID%" ` +
		`"` + safeHeader("x-request-id") + `" "` + safeHeader(":authority") + `" ` +
		`"%KUMA_SOURCE_SERVICE%" "%KUMA_DESTINATION_SERVICE%" "%KUMA_SOURCE_ADDRESS_WITHOUT_PORT%" "%UPSTREAM_HOST%"`
	tcpLine = `[%START_TIME%] %KUMA_MESH% %RESPONSE_FLAGS% %KUMA_SOURCE_ADDRESS_WITHOUT_PORT%(%KUMA_SOURCE_SERVICE%)->` +
		`%UPSTREAM_HOST%(%KUMA_DESTINATION_SERVICE%) took %DURATION%ms, sent %BYTES_SENT% bytes, received %BYTES_RECEIVED% bytes`
)

// defaultLine returns the format of a line, without its newline. That of HTTP needs
// celFormatters.
func defaultLine(http bool) string {
	if http {
		return httpLine
	}
	return tcpLine
}

// withQuotes is written instead of a header that has a quote or a backslash.
const withQuotes = "?"

// safeHeader returns the operator for a header of a request. A header with a quote or a
// backslash is written as withQuotes: the function that replaces them is not in all releases
// of Envoy (SPEC 18.3). An absent header is "-".
func safeHeader(name string) string {
	header := `request.headers['` + name + `']`
	return `%CEL(` + header + `.contains('"') || ` + header + `.contains('\\') ? '` + withQuotes + `' : ` + header + `)%`
}

// celFormatters returns what makes the operators of safeHeader known to Envoy.
func celFormatters() []*corev3.TypedExtensionConfig {
	return []*corev3.TypedExtensionConfig{{Name: "envoy.formatter.cel", TypedConfig: message.Any(&celv3.Cel{})}}
}
