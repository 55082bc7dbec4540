// Package bench measures what meshmatch exists for, on the shapes of package
// shape: reading files, merging, selecting and ordering, the effective confs of
// a dataplane, the rule views of an inbound's clients, and who may call it.
// Each benchmark asserts, outside of what is timed, that its result is that of
// the naive reference (of a scan, for selecting); where a reference or a peer
// does the same work it is measured in the same run.
//
// rules.txt says what must hold: allocations and work counters exactly, ratios
// within the run, slopes over the size, and how many benchmarks there are.
// `make check-bench` checks it, and `make gate` compares with another revision;
// absolute times are only looked at on demand, as they mean nothing on somebody
// else's machine. Whole engines are measured by package world.
package bench
