package xds

import (
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	statev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"
	networkstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/set_filter_state/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
)

// ServerNameKey is the key of the server name, in lower case, in the filter state that
// recordConnection sets. The URI SANs of the client are at [rbac.PeerKey]. No request can
// change them.
const ServerNameKey = "meshmatch.sni"

const connectionStateFilter = "envoy.filters.network.set_filter_state"

// recordConnection is the filter that makes the client's URI SANs and the server name
// available to routes, and to the filter that refuses several SPIFFE IDs: route matches have no
// input other than the request and the filter state. Each chain with TLS has it, so that a
// route that begins to ask for them changes no listener (SPEC 11.8).
var recordConnection = sync.OnceValue(func() *anypb.Any {
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
	return message.Any(&networkstatev3.Config{OnDownstreamTlsHandshake: []*statev3.FilterStateValue{
		value(rbac.PeerKey, "%DOWNSTREAM_PEER_URI_SAN%"),
		value(ServerNameKey, "%REQUESTED_SERVER_NAME%"),
	}})
})

// RecordConnection adds the filter that shows the client to routes and filters. Package
// snapshot calls it for each chain with TLS of an Envoy, before translators add filters.
func (c *Chain) RecordConnection() {
	c.AddNetworkFilter(connectionStateFilter, sharing(recordConnection()))
}
