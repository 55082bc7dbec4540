package permission

// Answer is what an inbound does with a request.
type Answer struct {
	Decision Decision
	// Shadow is the decision if allowWithShadowDeny were deny: a denial by the
	// first such entry that matches, else the decision itself (SPEC 7.4). It is
	// the zero Decision if HasShadow is false.
	Shadow    Decision
	HasShadow bool
}

// Decision is to allow or to deny, and why.
type Decision struct {
	Allow bool
	By    *Place // the first entry or item that decides; nil: denied by default, or allowed as no policy is applied
}

// String returns ALLOW or DENY.
func (d Decision) String() string {
	if d.Allow {
		return "ALLOW"
	}
	return "DENY"
}
