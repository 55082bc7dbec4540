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

// Sizes returns the sizes over all meshes. After a batch that failed with
// [ErrPanic] the engine first makes again what that batch cost it; a mesh for
// which it can not has no classes, profiles and blocks here.
func (e *Engine) Sizes() Sizes {
	e.mu.Lock()
	defer e.mu.Unlock()
	var s Sizes
	for _, m := range e.View().meshes {
		s.Dataplanes += m.slots.Len()
		s.Policies += m.index.Len()
		if w, err := e.writer(m.name); err == nil {
			s.Classes += w.sorted.Len()
			s.Blocks += w.blocks.Len()
			s.Profiles += len(w.profiles.byNumber) - len(w.profiles.free)
		}
	}
	return s
}
