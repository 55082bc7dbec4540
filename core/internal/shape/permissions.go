package shape

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Permissions returns n policies for all dataplanes, with eight matches each: one
// that denies an identity, six that each allow one ([TeamID]), and one that allows all
// identities below a prefix.
func Permissions(kind *resource.Kind, n int) []*resource.Policy {
	policies := make([]*resource.Policy, n)
	for i := range policies {
		c := &meshtrafficpermission.RuleConf{Deny: []conf.Match{spiffeID(conf.SpiffeIDExact, BlockedID(i))}}
		for j := range 6 {
			c.Allow = append(c.Allow, spiffeID(conf.SpiffeIDExact, TeamID(i, j)))
		}
		c.Allow = append(c.Allow, spiffeID(conf.SpiffeIDPrefix, fmt.Sprintf("spiffe://shop.mesh/ns/shared-%d", i)))
		policies[i] = &resource.Policy{
			Meta:      resource.Meta{ID: resource.ID{Kind: kind.Name, Mesh: Mesh, Name: fmt.Sprintf("permission-%06d", i)}},
			Type:      kind,
			TargetRef: resource.TargetRef{Kind: resource.TargetMesh},
			Rules:     []resource.Rule{{Conf: c}},
		}
	}
	return policies
}

func spiffeID(kind conf.SpiffeIDMatchType, value string) conf.Match {
	return conf.Match{SpiffeID: &conf.SpiffeIDMatch{Type: kind, Value: value}}
}

// TeamID returns the identity of application j of team i, which policy number i
// allows; j is below 6.
func TeamID(i, j int) string { return fmt.Sprintf("spiffe://shop.mesh/ns/team-%d/sa/app-%d", i, j) }

// BlockedID returns the identity that policy number i denies.
func BlockedID(i int) string { return fmt.Sprintf("spiffe://shop.mesh/ns/blocked/sa/app-%d", i) }
