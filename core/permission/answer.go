package permission

import "encoding/json"

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
	By    *Place // the first entry or item that decides; nil: denied by default
}

// String returns ALLOW or DENY.
func (d Decision) String() string {
	if d.Allow {
		return "ALLOW"
	}
	return "DENY"
}

// MarshalJSON prints {"decision", "by"}; by is a place, or {"default": true}
// (SPEC 10 access).
func (d Decision) MarshalJSON() ([]byte, error) {
	var by any = map[string]bool{"default": true}
	if d.By != nil {
		by = d.By
	}
	return json.Marshal(struct {
		Decision string `json:"decision"`
		By       any    `json:"by"`
	}{d.String(), by})
}

// MarshalJSON prints {"kri", "rule", "list", "index"}, or {"kri", "index"} for
// an item of from.
func (p *Place) MarshalJSON() ([]byte, error) {
	place := struct {
		KRI   string `json:"kri"`
		Rule  *int   `json:"rule,omitempty"`
		List  string `json:"list,omitempty"`
		Index int    `json:"index"`
	}{KRI: p.KRI, Index: p.Index}
	if p.List != From {
		place.Rule, place.List = &p.Rule, p.List.String()
	}
	return json.Marshal(place)
}
