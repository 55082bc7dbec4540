// Package bench measures what meshmatch exists for, on the shapes of package
// shape: merging, selecting and ordering, and the effective confs of a
// dataplane. Each measurement stands beside the naive reference, and where
// there is one beside a peer, in one run, and asserts its result.
//
// rules.txt says what must hold: allocations and work counters exactly, ratios
// within the run, slopes over the size. `make check-bench` checks it, and
// `make gate` compares with another revision; absolute times are only looked
// at on demand, as they mean nothing on somebody else's machine.
package bench
