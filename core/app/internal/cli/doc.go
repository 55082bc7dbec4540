// Package cli is the command line of meshmatch, for the program of that name
// and for embedders with policy kinds of their own:
//
//	func main() {
//		cli.Program{
//			Kinds:       []*resource.Kind{budget.Kind()},
//			Translators: []xds.Translator{budget.Translator()},
//		}.Main()
//	}
//
// A command does this:
//
//  1. It parses its flags, and reports wrong usage before it reads a file.
//  2. It loads the files of -f into one view (globals.go).
//  3. It asks package inspect, variant or xds for an answer.
//  4. It prints the answer as a table, JSON or YAML (output.go). The exit status is that
//     of SPEC 10.
//
// Errors of packages name fields and options; here they get the names of flags
// (remedy.go). The package contains no algorithm, so an answer over HTTP is the same.
package cli
