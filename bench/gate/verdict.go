package gate

// A Verdict is what the gate says about one benchmark in one unit.
type Verdict string

const (
	Same    Verdict = "same"    // within the limits, or a difference that may be noise
	Better  Verdict = "better"  // better by more than the limits
	Worse   Verdict = "worse"   // fails the gate
	Suspect Verdict = "suspect" // worse in the first round; a second one decides
	Cleared Verdict = "cleared" // a suspect that the second round did not confirm
	New     Verdict = "new"     // the base does not have it
	Missing Verdict = "missing" // the head does not have it any more
	Ungated Verdict = "ungated" // shown only; see Derived
)

// Fails tells whether the verdict fails the gate. A suspect that nobody
// confirmed or cleared fails.
func (v Verdict) Fails() bool { return v == Worse || v == Suspect }
