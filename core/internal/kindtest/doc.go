// Package kindtest checks a policy kind, built-in or not, through the loader that reads
// users' files. [Accepted] checks that documents are decoded, are marshalled in their
// written form, and use every field. [Completed] checks that absent fields get their
// defaults. [Warned] and [Rejected] check that warnings and errors are reported at the
// right place, with path and hint.
package kindtest
