// Package sourcetest is the test suite of every [source.Source], and a store in memory.
//
// A test of a source makes a [Subject] and calls [Run]:
//
//	func TestSource(t *testing.T) {
//		sourcetest.Run(t, func(t *testing.T) *sourcetest.Subject {
//			return &sourcetest.Subject{Source: ..., Write: ..., Lose: ..., Restore: ..., Forget: ...}
//		})
//	}
//
// The suite checks that
//
//   - the first update has everything, and the batches of all updates, applied in order,
//     result in the set of the last one;
//   - revisions never become smaller, and what is written at once arrives at once;
//   - an object that does not load is reported with its position, and its last good
//     version stays;
//   - a loss is reported and changes nothing; afterwards only differences arrive, even if
//     the store has forgotten the changes;
//   - the sequence ends with its context, even during a loss.
package sourcetest
