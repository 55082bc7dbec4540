package cli

import (
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/placement"
)

// placedPolicies returns the OCM policies of a view by the clusters where they are placed.
func placedPolicies(view *core.View) map[diff.Place]diff.Placed {
	placed := map[diff.Place]diff.Placed{}
	for _, p := range placement.New(view, "").Policies {
		for _, t := range p.Targets {
			at := diff.Place{Policy: strings.TrimPrefix(p.Namespace+"/"+p.Name, "/"), Cluster: t.Cluster}
			placed[at] = diff.Placed{Action: t.Action, Because: t.Because}
		}
	}
	return placed
}
