// Package targets reports whether a policy selects a dataplane, and what it does there:
// enforce or inform (SPEC 8).
package targets
