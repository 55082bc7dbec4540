// Package kindtest checks a policy kind, built-in or not, through the loader that reads
// users' files. [Accepted] checks that documents are decoded, are marshalled as they
// were written, and use every field; [Completed] that absent fields get their defaults;
// [Warned] and [Rejected] that warnings and errors are reported at the right place, with
// path and hint.
package kindtest
