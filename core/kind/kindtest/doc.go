// Package kindtest checks policy kinds, built-in ones and an embedder's,
// through the loader that reads users' files: [Accepted] that documents decode,
// print as they were written and use every field; [Completed] that absent
// fields get their defaults; [Warned] and [Rejected] that warnings and errors
// are reported at their place, with path and hint.
package kindtest
