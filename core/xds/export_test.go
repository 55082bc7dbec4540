package xds

// Builds returns how many resources were marshalled so far, and how many of them had a
// content that no resource in use had.
func (b *Builder) Builds() (marshalled, made int64) {
	return b.resources.builds.Load(), b.resources.made.Load()
}
