package gate

// A Verdict is the outcome for one benchmark in one unit.
type Verdict string

const (
	Same         Verdict = "same"         // within the limits
	Better       Verdict = "better"       // better by more than the limits
	Worse        Verdict = "worse"        // fails the gate
	Suspect      Verdict = "suspect"      // worse, but not measured a second time
	Cleared      Verdict = "cleared"      // a suspect that the second measurement did not confirm
	Inconclusive Verdict = "inconclusive" // too noisy to be judged
	New          Verdict = "new"          // the base does not have it
	Missing      Verdict = "missing"      // the head does not have it
	Ungated      Verdict = "ungated"      // shown only; see Derived
)

// fails reports whether the verdict always fails the gate. See [Config.FailOn]
// for other verdicts that can.
func (v Verdict) fails() bool { return v == Worse || v == Suspect }
