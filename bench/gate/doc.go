// Package gate fails a change that makes benchmarks worse, on machines whose
// clocks can not be trusted: equal binaries compared by time alone have come
// out as 27 % slower with p = 0.043 on a shared machine with two cores.
// Parsing, statistics and units are those of golang.org/x/perf.
//
// # Comparing two builds
//
//  1. [Run] opens both sides. A revision is checked out in a temporary worktree
//     at its merge base with the head; directories are built by go test -c.
//  2. Both sides run in turns (A B, B A, ...), at least [MinRounds] times, one
//     process per run, always with -test.benchmem. A [Loader] gathers what they
//     print into the [Results] of each side.
//  3. [Compare] judges each benchmark in each [Unit] by its [Class]. Counters
//     are exact: any increase is Worse. Amounts of memory have a small
//     tolerance. A time is a Suspect if the ratio of the best times is over the
//     limit and the U test agrees. Counts that differ from run to run go the
//     way of times.
//  4. The suspects alone run in a second round of fresh processes, and
//     [Confirm] makes them Worse or Cleared.
//  5. [Comparison] prints the table or JSON.
//
// On a machine with two cores and two busy loops beside the gate, 479
// measurements of one binary compared with itself (10 rounds of 10 ms) gave 35
// best times that differed by more than 10 %; none became a suspect. Under the
// same load, a function that takes twice the time had best times 1.98 to 2.00
// apart in 30 rounds of 1 ms, and 1.1 to 3.4 apart in 20 rounds of 20 ms: short
// runs fit between two switches of the scheduler, so prefer more rounds to
// longer ones there.
//
// # Checking one run
//
//  1. [Load] reads the output of one run.
//  2. [ParseRules] reads the rule file.
//  3. [Rules.Check] applies each rule to all benchmarks that it names. Of
//     repeated runs the best time counts, and of all else the median.
//  4. [Outcomes] print the table or JSON.
//
// # Rule files
//
// A rule is a line of words; a word that begins with # begins a comment.
//
//	ceiling  BENCHMARK  UNIT  LIMIT
//	ratio    BENCHMARK / BENCHMARK  UNIT  <=  NUMBER
//	slope    BENCHMARK/N=*  UNIT  <=  NUMBER
//	count    BENCHMARK  NUMBER
//	package  IMPORT-PATH
//
// BENCHMARK is a name without "Benchmark" and without the suffix -GOMAXPROCS;
// a star stands for any text between slashes. UNIT is as printed (ns/op) or
// tidied (sec/op). LIMIT is a number, or for sec/op a time (150ns, 0.8us,
// 3ms), for B/op also a size (16KiB).
//
//   - A ceiling limits what each matching benchmark measures. A ceiling of a
//     time holds on one known machine; it is checked on demand only, and
//     reported as not checked otherwise.
//   - A ratio limits one measurement divided by another of the same run. Where
//     both names have stars, they stand for the same text.
//   - A slope limits the growth with the size that the star stands for: the
//     slope of log(measurement) over log(size), at least three sizes.
//   - A count is how many benchmarks match: where a star stands for several, it
//     tells that one of them is gone or renamed.
//   - A package line holds for the rules below it; the path may be cut at its
//     front (bench/index), and * ends the restriction.
//
// # Invariants
//
//   - A gate that can not fail is an error: a rule that matches nothing, output
//     of benchmarks that failed, a measurement that is no number. A suspect that
//     nobody measured again fails.
//   - Nothing is left behind: worktree and binaries are gone when [Run]
//     returns, also when its context ends.
//   - Results, Rules and Limits do not change once made; equal input gives equal
//     output, in the order of the benchmarks' output and of the rules.
package gate
