package gate

import "fmt"

// Suspects returns the benchmarks of the rows that [Confirm] needs to see
// measured once more, each once.
func Suspects(rows []Row) []Benchmark {
	var suspects []Benchmark
	seen := map[Benchmark]bool{}
	for _, row := range rows {
		if row.Verdict == Suspect && !seen[row.Benchmark] {
			seen[row.Benchmark] = true
			suspects = append(suspects, row.Benchmark)
		}
	}
	return suspects
}

// Confirm decides the suspects among rows by fresh runs of base and head: a
// suspect that is worse again fails, else it is cleared. A suspect that the
// fresh runs did not measure stays suspect, which fails too. The other rows
// are returned as they are.
func Confirm(rows []Row, base, head *Results, limits Limits) []Row {
	confirmed := make([]Row, len(rows))
	for i, row := range rows {
		confirmed[i] = row
		if row.Verdict != Suspect {
			continue
		}
		again := compareOne(base, head, row.Benchmark, row.Unit, limits)
		switch again.Verdict {
		case Suspect, Worse:
			confirmed[i].Verdict = Worse
			confirmed[i].Reason += "; again " + again.Reason
		case New, Missing:
			confirmed[i].Reason += "; the second round did not measure it"
		default:
			confirmed[i].Verdict = Cleared
			confirmed[i].Reason += fmt.Sprintf("; not confirmed: %s in the second round", again.ratioText())
		}
	}
	return confirmed
}
