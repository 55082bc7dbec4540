package serve

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// denied returns the extension of a name that denies everyone: the permission filter of an inbound
// that drains, after an edit that may take access away (SPEC 12.3).
func denied(name string) *wire.Resource {
	filter := rbac.DenyAll(request.HTTP, rbac.MatcherForm, "inbound.")
	body := message.Marshal(&corev3.TypedExtensionConfig{TypedConfig: filter.Config})
	return wire.New(wire.ExtensionType, name, body)
}
