// Package conftest checks policy kinds, ours and an embedder's, through the
// loader that reads users' files: [Accepted] that documents decode, print as
// they were written and use every field, [Rejected] that mistakes are reported
// at their place, with path and hint.
package conftest
