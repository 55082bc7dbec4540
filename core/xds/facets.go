package xds

import "github.com/meshmatch/meshmatch/core/resource"

// Facets are the properties of the client's dataplane that a draft may depend on. A part
// is built once for all dataplanes that have equal values of the properties that were
// asked for.
type Facets interface {
	// Zone returns the zone of the dataplane, "" if it has none (SPEC 11.3).
	Zone() string
	// Service returns the first service of the dataplane in the order of its inbounds,
	// "" if it has none.
	Service() string
	// Tag returns the value of a tag of the dataplane: at the first inbound that
	// has the tag, else at its gateway, "" if it has none.
	Tag(key string) string
	// Dataplane returns the dataplane. A part that asks for it is built for each
	// dataplane.
	Dataplane() *resource.Dataplane
}
