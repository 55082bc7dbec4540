package message

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	inspectorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	"google.golang.org/protobuf/proto"
)

// ListenerFilter returns a listener filter with a config.
func ListenerFilter(name string, config proto.Message) *listenerv3.ListenerFilter {
	return &listenerv3.ListenerFilter{
		Name: name, ConfigType: &listenerv3.ListenerFilter_TypedConfig{TypedConfig: Any(config)},
	}
}

// TLSInspector returns the listener filter that sees whether a connection is TLS, and its SNI.
func TLSInspector() *listenerv3.ListenerFilter {
	return ListenerFilter("envoy.filters.listener.tls_inspector", &inspectorv3.TlsInspector{})
}
