// Package app is the program meshmatch: its command line, with the policy kinds of a caller.
//
//	func main() {
//		app.Program{
//			Kinds:       []*resource.Kind{budget.Kind()},
//			Translators: []xds.Translator{budget.Translator()},
//		}.Main()
//	}
//
// The module has what the program needs in addition to the library: stores, the server, pages,
// answers and their formats. All of it is internal. An embedder of the library does not
// require this module, so it fixes no version of Kubernetes or etcd for such a program.
package app
