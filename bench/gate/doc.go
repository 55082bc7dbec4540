// Package gate fails a change that makes benchmarks worse. It is made for
// machines with unreliable clocks: on a shared machine with two cores, a
// comparison of equal binaries by time alone reported a slowdown of 27 % with p
// = 0.043. Parsing, statistics and units come from golang.org/x/perf.
//
// # Comparing two builds
//
//  1. [Run] opens both sides. A revision is checked out in a temporary worktree
//     at its merge base with the head; directories are built by go test -c.
//  2. Both sides run in turns (A B, B A, ...), at least [MinRounds] times, one
//     process per run, always with -test.benchmem.
//  3. Each benchmark is judged in each [Unit] by the unit's [Class]. Counters
//     are exact: any increase is [Worse]. Amounts of memory have a small
//     tolerance. A time is a [Suspect] if the ratio of the best times is above
//     the limit and the U test agrees. A time whose confidence interval reaches
//     above twice the limit is [Inconclusive]. Counters that differ from run to
//     run are judged like times.
//  4. The inconclusive benchmarks run again, up to [Config.MaxRounds].
//  5. The suspects run again in fresh processes. They become Worse, [Cleared]
//     or Inconclusive.
//  6. [Comparison] prints a table, JSON or Markdown.
//
// One binary was compared with itself on a machine with two cores and two busy
// loops: 479 measurements of 10 rounds of 10 ms. The best times of 35 of them
// differed by more than 10 %; none became a suspect. Under the same load, the
// best times of a function that takes twice the time were 1.98 to 2.00 apart in
// 30 rounds of 1 ms. In 20 rounds of 20 ms they were 1.1 to 3.4 apart. Short
// runs fit between two switches of the scheduler, so prefer more rounds to
// longer rounds.
//
// # Checking one run
//
// [Load] reads the output of one run, [ParseRules] reads a rule file, and
// [Rules.Check] applies each rule to all benchmarks that it names. For repeated
// runs it uses the best time, and the median of every other measurement.
//
// # Invariants
//
//   - A gate that cannot fail is an error: a rule that matches no benchmark,
//     output of failed benchmarks, a measurement that is not a number, or a base
//     that is the head itself. A suspect that was not measured again fails.
//   - [Run] removes the worktree and the binaries before it returns, even when
//     its context ends.
//   - Results, Rules and Limits do not change once made; equal input gives equal
//     output, in the order of the benchmarks' output and of the rules.
package gate
