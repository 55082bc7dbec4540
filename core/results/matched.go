package results

import "github.com/meshmatch/meshmatch/core/internal/matched"

// Matched is the list of the policies of one kind that select a dataplane, in order: later
// policies override earlier ones (SPEC 3). All, Len and At read it. It is immutable; the zero
// Matched is empty.
type Matched = matched.Matched

// Selected is a policy that selects a dataplane, with the inbounds that it selects.
type Selected = matched.Selected

// InboundSet is a set of a dataplane's inbounds by index. The zero set is empty.
type InboundSet = matched.InboundSet

// Scope selects the policies that contribute to a result. The zero Scope is
// Enforced.
type Scope uint8

const (
	// Enforced is the scope of the policies that are enforced on a dataplane:
	// its effective configuration.
	Enforced Scope = iota
	// Shadow is the scope of all policies, including those that only inform
	// (SPEC 8.3): the configuration if everything were enforced.
	Shadow
)
