package xds

import "github.com/meshmatch/meshmatch/core/resource"

// Facets are the properties of the client's dataplane that a draft may depend on. A part
// is built once for all dataplanes with equal values of the properties that were asked
// for.
type Facets interface {
	// Zone returns the zone of the dataplane; "" if it has none (SPEC 11.3).
	Zone() string
	// Service returns the service of the dataplane's first inbound that has one; "" if none
	// has.
	Service() string
	// Tag returns the value of a tag at the dataplane's first inbound that has the tag,
	// otherwise at its gateway; "" if neither has it. Kuma's semantics read labels (SPEC 17.4).
	Tag(key string) string
	// Dataplane returns the dataplane itself. A part that asks for it is built again for
	// each dataplane.
	Dataplane() *resource.Dataplane
}
