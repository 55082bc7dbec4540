package snapshot

import "github.com/meshmatch/meshmatch/core/resource"

// Builds returns how many resources were marshalled so far, and how many of them had a
// content that no resource in use had.
func (b *Builder) Builds() (marshalled, made int64) {
	return b.resources.builds.Load(), b.resources.made.Load()
}

// Forget removes the snapshots of a dataplane, so that the next one is built anew.
func (b *Builder) Forget(id resource.ID) { b.forget(id) }
