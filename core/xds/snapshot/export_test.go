package snapshot

import "github.com/meshmatch/meshmatch/core/resource"

// Builds returns how many resources were marshalled so far, and how many of them had a
// content that no resource in use had.
func (b *Builder) Builds() (marshalled, made int64) {
	return b.resources.builds.Load(), b.resources.made.Load()
}

// Forget removes the snapshots of a dataplane, so that the next one is built anew.
func (b *Builder) Forget(id resource.ID) { b.forget(id) }

// LimitVariants makes the builder compile no more variants of a name and no more tuples, so
// that small meshes have destinations with many.
func (b *Builder) LimitVariants(variants, tuples int) { b.limits = variantLimits{variants, tuples} }
