// Package scenario reads the scenario files of the generator's tests.
//
// A scenario is a txtar file: a package with its subpackages, and the expected
// results in files below want/. Its packages do not exist on disk. They are an
// overlay of this module, so they can import every package that a package of the
// module can import.
//
// The tests of the generator define what a scenario must show.
package scenario
