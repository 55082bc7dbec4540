package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/enforce/rollout"
)

// TestSimulation advances the time through whole rollouts with random failures, and
// applies their plans like a controller. It checks that there are never more
// clusters in progress than allowed, that no cluster begins after a stop or out of
// order, and that every rollout that does not stop ends.
func TestSimulation(t *testing.T) {
	ends := map[string]int{}
	for seed := range uint64(400) {
		s := newSimulation(rand.New(rand.NewPCG(seed, 86)))
		end := s.run(t)
		ends[fmt.Sprint(s.Strategy.Type, " ", end)]++
		if t.Failed() {
			t.Fatalf("seed %d: %+v over %v", seed, s.Strategy, s.groups)
		}
	}
	for _, kind := range ocm.All.Enum() {
		for _, end := range []string{"stopped", "complete"} {
			if ends[kind+" "+end] == 0 && (kind != string(ocm.All) || end == "complete") {
				t.Errorf("no rollout of type %s %s: %v", kind, end, ends)
			}
		}
	}
}

// simulation is a controller and its clusters.
type simulation struct {
	*rand.Rand
	ocm.Rollout
	groups []rollout.Group
	now    time.Time
}

func newSimulation(r *rand.Rand) *simulation {
	s := &simulation{Rand: r, now: now}
	for i := range 1 + r.IntN(4) {
		g := rollout.Group{Group: ocm.Group{Index: i}}
		for k := range r.IntN(6) {
			g.Clusters = append(g.Clusters, fmt.Sprintf("cluster-%d-%d", i, k))
		}
		s.groups = append(s.groups, g)
	}
	amount := func() ocm.Amount {
		if r.IntN(2) == 0 {
			return ocm.Amount{Value: r.IntN(101), Percent: true}
		}
		return ocm.Amount{Value: r.IntN(6)}
	}
	limit, end := amount(), time.Duration(1+r.IntN(30))*time.Minute
	s.Strategy = ocm.Strategy{
		Type:             ocm.StrategyType(ocm.All.Enum()[r.IntN(3)]),
		MaxConcurrency:   &limit,
		ProgressDeadline: &end,
		MaxFailures:      amount(),
		MinSuccessTime:   time.Duration(r.IntN(3)) * time.Minute,
	}
	if r.IntN(3) == 0 {
		s.Strategy.MandatoryGroups = []ocm.GroupRef{{Index: r.IntN(4)}, {Index: r.IntN(4)}}
	}
	return s
}

// run returns "stopped" or "complete".
func (s *simulation) run(t *testing.T) string {
	stopped := false
	for range 2_000 {
		plan := rollout.New(&s.Rollout, s.groups, s.now)
		s.check(t, plan, stopped)
		stopped = stopped || plan.Stopped && !s.mayRecover(plan)
		open := false
		for _, c := range plan.Clusters {
			switch c.Action {
			case rollout.Apply, rollout.Wait:
				open = true
			case rollout.Later:
				open = open || !plan.Stopped
			}
		}
		if !open && plan.Stopped {
			return "stopped"
		} else if !open {
			return "complete"
		}
		s.step(plan)
	}
	t.Errorf("the rollout does not end")
	return "open"
}

// check checks a plan against the strategy.
func (s *simulation) check(t *testing.T, plan *rollout.Plan, stopped bool) {
	mandatory := map[string]bool{}
	for _, ref := range s.Strategy.MandatoryGroups {
		mandatory[fmt.Sprint(ref.Index)] = true
	}
	others, working, begins := 0, 0, 0
	for _, c := range plan.Clusters {
		if !mandatory[c.Group] {
			others++
		}
		if c.Action == rollout.Apply {
			begins++
		}
		if !mandatory[c.Group] && (c.Action == rollout.Apply || c.Action == rollout.Wait) {
			working++
		}
		if mandatory[c.Group] && c.Action != rollout.Done && c.Action != rollout.Skip && s.beginsOutside(plan, mandatory) {
			t.Errorf("a cluster begins while the mandatory %s has not succeeded: %+v", c.Cluster, plan)
		}
	}
	limit := s.Strategy.MaxConcurrency.CountOf(others)
	if s.Strategy.Type == ocm.Progressive && limit > 0 && working > limit {
		t.Errorf("%d of at most %d are in progress: %+v", working, limit, plan)
	}
	if (stopped || plan.Stopped) && begins > 0 {
		t.Errorf("%d begin after a stop: %+v", begins, plan)
	}
	if s.Strategy.Type == ocm.ProgressivePerGroup {
		s.checkGroups(t, plan)
	}
	if s.Strategy.Type == ocm.All && s.Strategy.MandatoryGroups == nil && plan.Stopped {
		t.Errorf("failures stop a rollout of all clusters at once: %+v", plan)
	}
}

// beginsOutside reports whether any cluster begins that is not mandatory.
func (s *simulation) beginsOutside(plan *rollout.Plan, mandatory map[string]bool) bool {
	for _, c := range plan.Clusters {
		if c.Action == rollout.Apply && !mandatory[c.Group] {
			return true
		}
	}
	return false
}

// checkGroups checks that no cluster begins while a cluster of an earlier group is in progress,
// besides tolerated failures.
func (s *simulation) checkGroups(t *testing.T, plan *rollout.Plan) {
	working := map[string]bool{}
	for _, c := range plan.Clusters {
		for group := range working {
			if c.Action == rollout.Apply && group != c.Group {
				t.Errorf("%s begins while the group %s is in progress: %+v", c.Cluster, group, plan)
			}
		}
		if c.Action == rollout.Apply || c.Action == rollout.Wait && c.Status != ocm.Failed {
			working[c.Group] = true
		}
	}
}

// mayRecover reports whether a failed cluster is in progress: its success ends a stop.
func (s *simulation) mayRecover(plan *rollout.Plan) bool {
	for _, c := range plan.Clusters {
		if c.Status == ocm.Failed && c.Action == rollout.Wait {
			return true
		}
	}
	return false
}

// step applies a plan, and lets some time pass in which clusters progress.
func (s *simulation) step(plan *rollout.Plan) {
	for _, c := range plan.Clusters {
		next := c.Status
		switch {
		case c.Status == "" && c.Action == rollout.Apply:
			next = ocm.ToApply
		case c.Status == ocm.ToApply && c.Action == rollout.Apply && s.IntN(2) == 0:
			next = ocm.Progressing
		case c.Status == ocm.Progressing || c.Status == ocm.Failed:
			next = []ocm.Status{c.Status, c.Status, ocm.Succeeded, ocm.Succeeded, ocm.Succeeded, ocm.Failed}[s.IntN(6)]
		}
		if next == c.Status || c.Action == rollout.TimedOut {
			continue
		}
		s.set(c.Cluster, next)
	}
	s.now = s.now.Add(time.Duration(s.IntN(180)) * time.Second)
}

func (s *simulation) set(cluster string, status ocm.Status) {
	for i := range s.Status {
		if s.Status[i].Cluster == cluster {
			s.Status[i].Status, s.Status[i].Since = status, s.now
			return
		}
	}
	s.Status = append(s.Status, ocm.ClusterStatus{Cluster: cluster, Status: status, Since: s.now})
}
