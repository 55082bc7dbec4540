package sourcetest

import (
	"fmt"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
)

// describe returns the resources of a set: "NAME=ADDRESS" of dataplanes, "NAME=DURATION" of
// MeshTimeouts, "NAME:denies" of permissions.
func describe(set *resource.Set) string {
	var b strings.Builder
	for _, d := range set.Dataplanes {
		fmt.Fprintf(&b, "%s=%s ", d.Name, d.Address)
	}
	for _, p := range set.Policies {
		switch {
		case p.Unreadable:
			fmt.Fprintf(&b, "%s:denies ", p.Name)
		case len(p.To) > 0:
			if c, ok := p.To[0].Conf.(*meshtimeout.Conf); ok && c.IdleTimeout != nil {
				fmt.Fprintf(&b, "%s=%v ", p.Name, c.IdleTimeout)
			}
		default:
			fmt.Fprintf(&b, "%s ", p.Name)
		}
	}
	return strings.TrimSpace(b.String())
}

// fromView returns the dataplanes and policies of a view.
func fromView(view *core.View) *resource.Set {
	set := new(resource.Set)
	for _, mesh := range view.Meshes() {
		set.Dataplanes = append(set.Dataplanes, view.Dataplanes(mesh)...)
		set.Policies = append(set.Policies, view.Policies(mesh)...)
	}
	return set
}
