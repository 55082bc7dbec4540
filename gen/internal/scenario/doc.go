// Package scenario reads the scenario files of the generator's tests.
//
// A scenario is a txtar file: a package with its subpackages, and the expected
// results in files below want/. Its packages do not exist on disk. They are an
// overlay of this module, so they can import whatever a package of the module can
// import.
//
// It does not know what a scenario is expected to show: the tests of the generator do.
package scenario
