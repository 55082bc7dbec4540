package serve

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/internal/xds/message"
	"github.com/meshmatch/meshmatch/core/internal/xds/rbac"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/server"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// followed returns what a permission filter is that drains (SPEC 12.3). It implements
// server.Options.Follow.
func followed(state server.State, node *server.Node, name string) (filter *wire.Resource, gone bool) {
	p := state.(*publication)
	d := p.view().DataplaneOf(node.ID)
	client, err := xds.ClientBy(node.UserAgent, node.Version)
	if d == nil || err != nil {
		return denied(name), true
	}
	if filter, found := p.state.PermissionFilter(d, client, name); found {
		return filter, false
	}
	return denied(name), true
}

// denied returns the extension of a name that denies everyone.
func denied(name string) *wire.Resource {
	filter := rbac.DenyAll(request.HTTP, rbac.MatcherForm, "inbound.")
	body := message.Marshal(&corev3.TypedExtensionConfig{TypedConfig: filter.Config})
	return wire.New(wire.ExtensionType, name, body)
}
