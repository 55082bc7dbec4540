package main

import (
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// A summary is the median of measurements and its confidence interval.
type summary struct{ median, low, high float64 }

func summarize(values []float64) summary {
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	s := benchmath.AssumeNothing.Summary(sample, 0.95)
	return summary{s.Center, s.Lo, s.Hi}
}

// bounded reports whether there were enough rounds for an interval.
func (s summary) bounded() bool { return !math.IsInf(s.low, 0) && !math.IsInf(s.high, 0) }

// A result is a peer's side of a comparison, next to meshmatch's.
type result struct {
	comparison comparison
	peer       string
	// ratio is the peer's measurement divided by meshmatch's of the same round: above 1,
	// meshmatch is better.
	ratio, ours, theirs summary
	ourAllocs, allocs   float64 // medians; -1 if they were not measured
	// missing is why the peer could not be had; then ratio and theirs are zero.
	missing error
}

// compared reports whether the result has a peer's measurements.
func (r *result) compared() bool { return r.peer != none && r.missing == nil }

// none replaces the name of a peer if no peer does the work.
const none = "-"

// peerResults returns a result for each peer, or one for all if there is none. If Kuma could not be
// had, its result has the reason.
func peerResults(c comparison, all []series, missing error) []result {
	ours := all[0]
	var list []result
	for _, theirs := range all[1:] {
		ratios := make([]float64, len(ours.values))
		for i := range ratios {
			ratios[i] = theirs.values[i] / ours.values[i]
		}
		list = append(list, result{
			comparison: c, peer: theirs.name,
			ratio: summarize(ratios), ours: summarize(ours.values), theirs: summarize(theirs.values),
			ourAllocs: medianOr(ours.allocs), allocs: medianOr(theirs.allocs),
		})
	}
	own := result{comparison: c, ours: summarize(ours.values), ourAllocs: medianOr(ours.allocs), allocs: -1}
	switch {
	case missing != nil:
		own.peer, own.missing = kuma, missing
	case len(all) == 1:
		own.peer = none
	default:
		return list
	}
	return append(list, own)
}

func medianOr(values []float64) float64 {
	if len(values) == 0 {
		return -1
	}
	return summarize(values).median
}
