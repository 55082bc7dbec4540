package message

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/types/known/durationpb"
)

// The permission filter of an HTTP inbound is a resource of its own. So an edit of it
// changes no listener and closes no connection (SPEC 11.8). Envoy takes the name of the
// filter for the name of the resource.
const (
	permissionPrefix = "permission/"
	plainSuffix      = "/plain"
	// HTTPPermissionFilter is Envoy's canonical name of the filter, where it is inline.
	HTTPPermissionFilter = "envoy.filters.http.rbac"
)

// PermissionName returns the name of the permission filter of a listener. Plain is the
// chain for clients in plain text of a listener that has a chain for TLS too.
func PermissionName(listener string, plain bool) string {
	if plain {
		return permissionPrefix + listener + plainSuffix
	}
	return permissionPrefix + listener
}

// CanonicalName returns the canonical name of a filter: it differs from the filter's name
// if its config is a resource.
func CanonicalName(filter string) string {
	if strings.HasPrefix(filter, permissionPrefix) {
		return HTTPPermissionFilter
	}
	return filter
}

// Discovered returns an HTTP filter whose config, of the given type, is the extension of
// its name. The listener does not open before the config is there.
func Discovered(name, typeURL string) *hcmv3.HttpFilter {
	var m struct {
		filter hcmv3.HttpFilter
		kind   hcmv3.HttpFilter_ConfigDiscovery
		source corev3.ExtensionConfigSource
		ads    adsSource
		fetch  durationpb.Duration
		types  [1]string
	}
	m.types[0] = typeURL
	m.source.ConfigSource, m.source.TypeUrls = m.ads.source(), m.types[:]
	m.source.ConfigSource.InitialFetchTimeout = &m.fetch
	m.kind.ConfigDiscovery = &m.source
	m.filter.Name, m.filter.ConfigType = name, &m.kind
	return &m.filter
}
