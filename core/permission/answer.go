package permission

// Answer is the answer of an inbound to a request.
type Answer struct {
	Decision Decision
	// Shadow is the decision that would result if allowWithShadowDeny were
	// deny: a denial by the first matching allowWithShadowDeny entry, otherwise
	// the decision itself (SPEC 7.4). It is the zero Decision if HasShadow is
	// false.
	Shadow    Decision
	HasShadow bool
}

// Decision allows or denies a request, and names the entry or item that
// decides.
type Decision struct {
	Allow bool
	By    *Place // the first entry or item that decides; nil: denied by default, or allowed because no policy is applied
}

// String returns ALLOW or DENY.
func (d Decision) String() string {
	if d.Allow {
		return "ALLOW"
	}
	return "DENY"
}
