package translators

import (
	"strconv"
	"strings"

	accesslogv3 "github.com/envoyproxy/go-control-plane/envoy/config/accesslog/v3"
	celv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/access_loggers/filters/cel/v3"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
)

// routeIsOther returns the condition of the requests of all other routes, and of those
// that the connection manager refuses before it has a route.
func routeIsOther(names []string) *accesslogv3.AccessLogFilter {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return celFilter("!has(xds.route_name) || !(xds.route_name in [" + strings.Join(quoted, ", ") + "])")
}

func celFilter(expression string) *accesslogv3.AccessLogFilter {
	return &accesslogv3.AccessLogFilter{FilterSpecifier: &accesslogv3.AccessLogFilter_ExtensionFilter{
		ExtensionFilter: &accesslogv3.ExtensionFilter{
			Name: "envoy.access_loggers.extension_filters.cel",
			ConfigType: &accesslogv3.ExtensionFilter_TypedConfig{
				TypedConfig: message.Any(&celv3.ExpressionFilter{Expression: expression}),
			},
		},
	}}
}
