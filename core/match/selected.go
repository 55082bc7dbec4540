package match

import "github.com/meshmatch/meshmatch/core/resource"

// Selected is a policy that selects a dataplane, with the inbounds that it
// selects; those are none on a dataplane without inbounds.
type Selected struct {
	Policy   *resource.Policy
	Inbounds InboundSet
}
