package seal

import (
	"fmt"
	"slices"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
)

// freeManagerFields are the fields of a connection manager that a change may set. They
// change neither the filters nor the part of a request that filters receive.
var freeManagerFields = names(
	"stat_prefix", "http_filters", "tracing", "server_name", "server_header_transformation",
	"access_log", "access_log_flush_interval", "flush_access_log_on_new_request", "access_log_options",
	"max_request_headers_kb", "stream_idle_timeout", "stream_flush_timeout", "request_timeout", "request_headers_timeout",
	"drain_timeout", "drain_timeout_jitter", "delayed_close_timeout", "http1_safe_max_connection_duration",
	"always_set_request_id_in_response", "proxy_100_continue", "local_reply_config", "proxy_status_config",
	"append_local_overload", "record_route_resolution_stats", "stream_error_on_invalid_http_message",
	"upgrade_configs", "common_http_protocol_options", "http2_protocol_options",
)

// freeCommonFields are the options of all versions of HTTP that a change may set.
var freeCommonFields = names(
	"idle_timeout", "max_connection_duration", "max_connection_duration_jitter", "max_headers_count", "max_stream_duration",
	"max_requests_per_connection", "max_response_headers_kb",
)

// freeHTTP2Fields are the options of HTTP/2 that a change may set.
var freeHTTP2Fields = names(
	"hpack_table_size", "max_concurrent_streams", "initial_stream_window_size", "initial_connection_window_size",
	"max_outbound_frames", "max_outbound_control_frames", "max_consecutive_inbound_frames_with_empty_payload",
	"max_inbound_priority_frames_per_stream", "max_inbound_window_update_frames_per_data_frame_sent",
	"connection_keepalive", "enable_huffman_encoding", "stream_reset_burst", "stream_reset_rate",
)

// brokenManager compares the connection managers of a chain. The first HTTP filters, as
// many as decide, decide about clients.
func brokenManager(before, after *listenerv3.Filter, decide int) (broken []string) {
	was, is := &hcmv3.HttpConnectionManager{}, &hcmv3.HttpConnectionManager{}
	if before.GetTypedConfig().UnmarshalTo(was) != nil || after.GetTypedConfig().UnmarshalTo(is) != nil {
		return []string{"the connection manager cannot be read"}
	}
	option := func(prefix string, a, b proto.Message, free fieldSet) {
		for _, field := range differences(a, b, free) {
			broken = append(broken, fmt.Sprintf("the option %s%s of the connection manager is changed", prefix, field))
		}
	}
	option("", was, is, freeManagerFields)
	option("common_http_protocol_options.", was.CommonHttpProtocolOptions, is.CommonHttpProtocolOptions, freeCommonFields)
	option("http2_protocol_options.", was.Http2ProtocolOptions, is.Http2ProtocolOptions, freeHTTP2Fields)
	for _, u := range is.UpgradeConfigs {
		switch {
		case slices.ContainsFunc(was.UpgradeConfigs, func(other *hcmv3.HttpConnectionManager_UpgradeConfig) bool { return proto.Equal(u, other) }):
		case len(u.Filters) > 0:
			broken = append(broken, fmt.Sprintf("an upgrade to %s has its own filters", u.UpgradeType))
		case strings.HasPrefix(strings.ToUpper(u.UpgradeType), "CONNECT"):
			broken = append(broken, fmt.Sprintf("an upgrade to %s has no path for permissions to compare", u.UpgradeType))
		}
	}
	filters, _ := brokenFilters(was.HttpFilters[:decide], is.HttpFilters, inertHTTP)
	return append(broken, filters...)
}
