package cli

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/diff"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/placement"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// placedPolicies returns the OCM policies of a world by the clusters where they are placed.
func placedPolicies(w *world) map[diff.PolicyOnCluster]diff.Placed {
	contents := map[string]string{}
	for _, set := range []*resource.Set{w.edited, w.set} {
		if set == nil {
			continue
		}
		for _, d := range set.Documents {
			if content := ocm.Content(d); content != "" {
				contents[d.Qualified()] = content
			}
		}
	}
	placed := map[diff.PolicyOnCluster]diff.Placed{}
	for _, p := range placement.New(w.view, "").Policies {
		for _, t := range p.Targets {
			at := diff.PolicyOnCluster{Policy: strings.TrimPrefix(p.Namespace+"/"+p.Name, "/"), Cluster: t.Cluster}
			placed[at] = diff.Placed{Action: t.Action, Because: t.Because, Content: contents[at.Policy]}
		}
	}
	return placed
}
