package permissiontest

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/conf/kinds"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/rules"
)

// Permissions returns what the inbounds of the set's only dataplane let in, by
// the inbound's name.
func Permissions(set *resource.Set) (map[string]*permission.Permissions, error) {
	view, err := core.NewView(kinds.All(), set)
	if err != nil {
		return nil, err
	}
	d := set.Dataplanes[0]
	var config *rules.Config
	if configs := view.Configs(d, core.Scope{Kind: "MeshTrafficPermission"}); len(configs) > 0 {
		config = configs[0]
	}
	out := map[string]*permission.Permissions{}
	for i := range d.Inbounds {
		out[d.Inbounds[i].Name] = permission.Of(config, d, i)
	}
	return out, nil
}
