package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/enforce/rollout"
)

// Plans of random rollouts, in any state that clusters can have, are those of a reference: the
// sentences of OCM's RolloutStrategy about one cluster at a time, each as one condition (SPEC 8.6).
func TestPlansOfReference(t *testing.T) {
	actions := map[rollout.Action]int{}
	stopped := 0
	for seed := range uint64(6_000) {
		s := newSimulation(rand.New(rand.NewPCG(seed, 62)))
		s.randomStates()
		plan, want := rollout.New(&s.Rollout, s.groups, s.now), newReference(s)
		for _, c := range plan.Clusters {
			if action := want.action(c.Cluster); action != c.Action {
				t.Fatalf("seed %d: %s: %s (%s), want %s: %+v over %v", seed, c.Cluster, c.Action, c.Reason, action, s.Rollout, s.groups)
			}
			actions[c.Action]++
		}
		if plan.Stopped != want.stopped() {
			t.Fatalf("seed %d: stopped %v, want %v: %+v over %v", seed, plan.Stopped, want.stopped(), s.Rollout, s.groups)
		}
		if plan.Stopped {
			stopped++
		}
	}
	for _, action := range []rollout.Action{rollout.Apply, rollout.Wait, rollout.Done, rollout.TimedOut, rollout.Skip, rollout.Later} {
		if actions[action] < 1_000 {
			t.Errorf("only %d clusters have the action %s", actions[action], action)
		}
	}
	if stopped < 500 {
		t.Errorf("only %d rollouts are stopped", stopped)
	}
}

// randomStates gives clusters any status, and groups names.
func (s *simulation) randomStates() {
	for i := range s.groups {
		s.groups[i].Name = []string{"", "canary", "canary", "prod"}[s.IntN(4)]
		for _, cluster := range s.groups[i].Clusters {
			all := []ocm.Status{"", "", ocm.ToApply, ocm.Progressing, ocm.Succeeded, ocm.Succeeded, ocm.Succeeded, ocm.Failed, ocm.TimeOut, ocm.Skip}
			status := ocm.ClusterStatus{Cluster: cluster, Status: all[s.IntN(len(all))], Since: s.now.Add(-time.Duration(s.IntN(40)) * time.Minute)}
			if s.IntN(10) == 0 {
				status.Since = time.Time{}
			}
			if status.Status != "" {
				s.Status = append(s.Status, status)
			}
		}
	}
	if s.Strategy.MandatoryGroups != nil && s.IntN(2) == 0 {
		s.Strategy.MandatoryGroups[s.IntN(2)] = ocm.GroupRef{Name: []string{"canary", "prod", "absent"}[s.IntN(3)]}
	}
	if s.IntN(5) == 0 {
		s.Strategy.ProgressDeadline = nil
	}
	if s.IntN(5) == 0 {
		s.Strategy.MaxConcurrency = nil
	}
}

// reference answers questions about one cluster by what it is given, and keeps nothing.
type reference struct {
	*simulation
	turn   map[string]int // of a cluster: its mandatory group, then the others or its group
	states map[string]ocm.ClusterStatus
	order  []string // of all clusters
	sizes  map[string]int
	group  map[string]int
}

func newReference(s *simulation) *reference {
	r := &reference{s, map[string]int{}, map[string]ocm.ClusterStatus{}, nil, map[string]int{}, map[string]int{}}
	for at, g := range s.groups {
		turn := len(s.Strategy.MandatoryGroups)
		if s.Strategy.Type == ocm.ProgressivePerGroup {
			turn += at
		}
		for k, ref := range slices.Backward(s.Strategy.MandatoryGroups) {
			if ref.Name != "" && ref.Name == g.Name || ref.Name == "" && ref.Index == g.Index {
				turn = k
			}
		}
		for _, c := range g.Clusters {
			r.turn[c], r.group[c] = turn, at
			r.order = append(r.order, c)
			r.sizes[fmt.Sprint(at)]++
		}
	}
	for _, status := range s.Status {
		r.states[status.Cluster] = status
	}
	return r
}

// hasBegun: a status ToApply is as no status.
func (r *reference) hasBegun(c string) bool {
	return r.states[c].Status != "" && r.states[c].Status != ocm.ToApply
}

// hasTimedOut: past lastTransitionTime + progressDeadline.
func (r *reference) hasTimedOut(c string) bool {
	s, deadline := r.states[c], r.Strategy.ProgressDeadline
	late := deadline != nil && !s.Since.IsZero() && !r.now.Before(s.Since.Add(*deadline))
	return s.Status == ocm.TimeOut || late && (s.Status == ocm.Progressing || s.Status == ocm.Failed)
}

// hasFailed: failed and timed-out clusters are failures.
func (r *reference) hasFailed(c string) bool {
	return r.states[c].Status == ocm.Failed || r.hasTimedOut(c)
}

// isSoaking: succeeded, until minSuccessTime has passed. The type All does not use it.
func (r *reference) isSoaking(c string) bool {
	s := r.states[c]
	return s.Status == ocm.Succeeded && r.Strategy.Type != ocm.All && r.now.Before(s.Since.Add(r.Strategy.MinSuccessTime))
}

func (r *reference) isInProgress(c string) bool {
	s := r.states[c].Status
	return r.isSoaking(c) || (s == ocm.Progressing || s == ocm.Failed) && !r.hasTimedOut(c)
}

func (r *reference) count(counts func(c string) bool) (n int) {
	for _, c := range r.order {
		if counts(c) {
			n++
		}
	}
	return n
}

// amount is a number, or a percentage rounded up.
func amountOf(a ocm.Amount, of int) int {
	if a.Percent {
		return (of*a.Value + 99) / 100
	}
	return a.Value
}

// tooManyFailed reports whether failures stop the clusters of a turn: any of a mandatory group,
// more than maxFailures of its group with ProgressivePerGroup, of all with Progressive, none with
// All.
func (r *reference) tooManyFailed(turn int) bool {
	inTurn := func(c string) bool { return r.turn[c] == turn && r.hasFailed(c) }
	mandatory := len(r.Strategy.MandatoryGroups)
	switch {
	case turn < mandatory:
		return r.count(inTurn) > 0
	case r.Strategy.Type == ocm.ProgressivePerGroup:
		return r.count(inTurn) > amountOf(r.Strategy.MaxFailures, r.sizes[fmt.Sprint(turn-mandatory)])
	case r.Strategy.Type == ocm.Progressive:
		return r.count(r.hasFailed) > amountOf(r.Strategy.MaxFailures, len(r.order))
	}
	return false
}

// isOver reports whether the next turn may begin: each cluster has begun, and none is in progress
// but a tolerated failure.
func (r *reference) isOver(turn int) bool {
	return !r.tooManyFailed(turn) && r.count(func(c string) bool {
		return r.turn[c] == turn && (!r.hasBegun(c) || r.isInProgress(c) && !r.hasFailed(c))
	}) == 0
}

// isReached reports whether all earlier turns are over.
func (r *reference) isReached(turn int) bool {
	for earlier := range turn {
		if !r.isOver(earlier) {
			return false
		}
	}
	return true
}

// mayBegin reports whether a cluster that has not begun begins now.
func (r *reference) mayBegin(c string) bool {
	turn := r.turn[c]
	if !r.isReached(turn) || r.tooManyFailed(turn) {
		return false
	}
	if r.Strategy.Type != ocm.Progressive || turn < len(r.Strategy.MandatoryGroups) || r.Strategy.MaxConcurrency == nil {
		return true
	}
	others := r.count(func(o string) bool { return r.turn[o] == turn })
	limit := amountOf(*r.Strategy.MaxConcurrency, others)
	if limit == 0 || limit > others {
		limit = others
	}
	before := slices.Index(r.order, c)
	ahead := r.count(func(o string) bool {
		return r.turn[o] == turn && (r.isInProgress(o) || !r.hasBegun(o) && slices.Index(r.order, o) < before)
	})
	return ahead < limit
}

func (r *reference) action(c string) rollout.Action {
	switch {
	case !r.hasBegun(c) && r.mayBegin(c):
		return rollout.Apply
	case !r.hasBegun(c):
		return rollout.Later
	case r.states[c].Status == ocm.Skip:
		return rollout.Skip
	case r.hasTimedOut(c):
		return rollout.TimedOut
	case r.isInProgress(c):
		return rollout.Wait
	}
	return rollout.Done
}

// stopped reports whether failures stop a turn that is reached.
func (r *reference) stopped() bool {
	for turn := range len(r.Strategy.MandatoryGroups) + len(r.groups) + 1 {
		used := turn < len(r.Strategy.MandatoryGroups) || r.Strategy.Type != ocm.ProgressivePerGroup && turn == len(r.Strategy.MandatoryGroups) ||
			r.count(func(c string) bool { return r.turn[c] == turn }) > 0
		if used && r.isReached(turn) && r.tooManyFailed(turn) {
			return true
		}
	}
	return false
}
