package rules

// Scope selects the policies that take part in an answer. The zero Scope is
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
