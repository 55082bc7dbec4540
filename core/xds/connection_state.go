package xds

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	statev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"
	networkstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/set_filter_state/v3"
	"github.com/meshmatch/meshmatch/core/xds/message"
)

// The keys of the filter state that RecordConnection sets. No request can change it.
const (
	PeerKey       = "meshmatch.peer" // the URI SANs of the client, joined by commas
	ServerNameKey = "meshmatch.sni"  // in lower case
)

const connectionStateFilter = "envoy.filters.network.set_filter_state"

// RecordConnection makes the client's URI SANs and the server name available to routes:
// route matches have no input other than the request and the filter state. Further calls
// do nothing.
func (c *Chain) RecordConnection() {
	if len(c.network) > 0 && c.network[0].Name == connectionStateFilter {
		return
	}
	value := func(key, format string) *statev3.FilterStateValue {
		return &statev3.FilterStateValue{
			Key:        &statev3.FilterStateValue_ObjectKey{ObjectKey: key},
			FactoryKey: "envoy.string",
			Value: &statev3.FilterStateValue_FormatString{FormatString: &corev3.SubstitutionFormatString{
				Format: &corev3.SubstitutionFormatString_TextFormatSource{TextFormatSource: &corev3.DataSource{
					Specifier: &corev3.DataSource_InlineString{InlineString: format},
				}},
				OmitEmptyValues: true,
			}},
		}
	}
	filter := &listenerv3.Filter{Name: connectionStateFilter, ConfigType: &listenerv3.Filter_TypedConfig{
		TypedConfig: message.Any(&networkstatev3.Config{OnDownstreamTlsHandshake: []*statev3.FilterStateValue{
			value(PeerKey, "%DOWNSTREAM_PEER_URI_SAN%"),
			value(ServerNameKey, "%REQUESTED_SERVER_NAME%"),
		}}),
	}}
	c.network = append([]*listenerv3.Filter{filter}, c.network...)
}
