package core

// Sizes is how much an engine has of what its costs follow.
type Sizes struct {
	Dataplanes int `json:"dataplanes"`
	Policies   int `json:"policies"`
	// Classes are what policies are selected for, once each.
	Classes int `json:"classes"`
	// Profiles are what confs are evaluated for: a class, with the same
	// outbounds.
	Profiles int `json:"profiles"`
	// Blocks are the merged confs, and the inbounds with what they do, that are
	// different from each other.
	Blocks int `json:"blocks"`
}

// Sizes returns the sizes over all meshes.
func (e *Engine) Sizes() Sizes {
	e.mu.Lock()
	defer e.mu.Unlock()
	var s Sizes
	for _, w := range e.meshes {
		s.Dataplanes += w.now.slots.Len()
		s.Policies += w.now.index.Len()
		s.Classes += w.sorted.Len()
		s.Blocks += w.blocks.Len()
		s.Profiles += len(w.profiles.byNumber) - len(w.profiles.free)
	}
	return s
}
