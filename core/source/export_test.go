package source

// WithoutNotifications makes files find changes by scans alone.
func WithoutNotifications(f *Files) { f.scansOnly = true }
