// Package bench contains the benchmarks of whole operations, on the shapes of
// package shape: reading files, building an engine, merging, selecting and ordering,
// the effective confs of a dataplane, the rule views of an inbound's clients, and
// deciding requests. A benchmark of a single package is in that package. Each
// benchmark asserts, outside the timed part, that its result equals the result of
// the naive reference (of a scan, for selecting). If the reference or another
// library does the same work, it is measured in the same run.
//
// rules.txt contains the rules for the benchmarks of all packages: exact allocations
// and work counters, ratios within the run, slopes over the size, and the number of
// benchmarks. `make check-bench` checks them, and `make gate` compares with another
// revision. Absolute times depend on the machine and are checked only with --times.
// Package world measures whole engines.
package bench
