// Package diag describes errors and warnings about an input and their places.
//
// A [Diagnostic] is an error or a warning: the [Position] in a file, the path
// of the field, what is wrong, and a hint. A [Sink] collects the diagnostics of
// a run, so that one run reports all of them (SPEC 1.2).
//
// An [At] is a place at which errors are reported: a path from the root of an input.
// Its [Source] finds positions by paths. Sources are the documents of files, which
// package strict decodes, and [GoValue] for values made in Go. So a type validates
// itself with one method for both:
//
//	func (c *Conf) Validate(at *diag.At) {
//		if c.Timeout == 0 {
//			at.Field("timeout").Errorf(diag.OutOfRange, "leave it out for no limit", "must be longer than 0s")
//		}
//	}
//
// Each diagnostic has a [Code], which is passed where the message is made. A
// [Definition] contains the meaning of a code, an example and a remedy. The definitions are
// the page FINDINGS.md of this package.
//
// [OneLine] escapes all printed text: the text of an input cannot break a line or
// change a terminal.
package diag
