package specs

// LabelSelector selects objects that have all of the labels; without labels it
// selects every object.
type LabelSelector struct {
	MatchLabels Tags `json:"matchLabels,omitzero"`
}

// hasLabels reports whether a selector is present and has a label.
func (s *LabelSelector) hasLabels() bool { return s != nil && len(s.MatchLabels) > 0 }
