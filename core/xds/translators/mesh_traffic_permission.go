package translators

import (
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/request"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/rbac"
)

// meshTrafficPermission translates MeshTrafficPermission: the RBAC filter of each
// inbound, which denies every client if no policy selects the inbound.
func meshTrafficPermission() xds.Translator {
	return xds.Translator{Kind: "MeshTrafficPermission", Chain: permissions}
}

func permissions(c *xds.Chain, conf xds.InboundConf) {
	p := permission.ForInbound(conf.Config, c.Dataplane, c.Index)
	filter, err := rbac.New(p, c.RequestForm(), "inbound.")
	if err != nil {
		panic(err)
	}
	if p.Protocol == request.TCP {
		c.AddNetworkFilter(filter.Name, filter.Config)
	} else {
		c.AddHTTPFilter(filter.Name, filter.Config)
	}
}
