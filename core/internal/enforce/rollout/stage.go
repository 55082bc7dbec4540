package rollout

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
)

// stage is a set of clusters that may begin once the previous stage is
// finished.
type stage struct {
	name        string // for reasons
	clusters    []*progress
	concurrency int // the maximum number in progress
	tolerated   int // the number of tolerated failures
}

// stages divides the clusters: a stage for each mandatory group in the order of the
// strategy, then stages for the others by the type of the strategy.
func stages(strategy *ocm.Strategy, groups []Group, clusters []*progress) []stage {
	var list []stage
	mandatory := map[*Group]bool{}
	for _, ref := range strategy.MandatoryGroups {
		var pieces []*Group
		for _, g := range find(groups, ref) {
			if !mandatory[g] {
				mandatory[g], pieces = true, append(pieces, g)
			}
		}
		if len(pieces) > 0 {
			list = append(list, groupStage("mandatory group "+pieces[0].String(), pieces, clusters, 0))
		}
	}
	var others []*progress
	for _, p := range clusters {
		if !mandatory[p.group] {
			others = append(others, p)
		}
	}
	if strategy.Type == ocm.ProgressivePerGroup {
		for i := range groups {
			if g := &groups[i]; !mandatory[g] {
				list = append(list, groupStage("group "+g.String(), []*Group{g}, clusters, strategy.MaxFailures.CountOf(g.size(clusters))))
			}
		}
		return list
	}
	rest := stage{clusters: others, concurrency: len(others), tolerated: strategy.MaxFailures.CountOf(len(clusters))}
	if strategy.Type == ocm.All { // failures stop nothing
		rest.tolerated = len(clusters)
	}
	if limit := strategy.MaxConcurrency; strategy.Type == ocm.Progressive && limit != nil {
		if n := limit.CountOf(len(others)); n > 0 {
			rest.concurrency = min(n, len(others))
		}
	}
	return append(list, rest)
}

func groupStage(name string, pieces []*Group, clusters []*progress, tolerated int) stage {
	s := stage{name: name, tolerated: tolerated}
	for _, p := range clusters {
		if slices.Contains(pieces, p.group) {
			s.clusters = append(s.clusters, p)
		}
	}
	s.concurrency = len(s.clusters)
	return s
}

// find returns the groups that a strategy names: by name, each piece of the group; by index, one.
func find(groups []Group, ref ocm.GroupRef) []*Group {
	var found []*Group
	for i := range groups {
		if g := &groups[i]; ref.Name != "" && g.Name == ref.Name || ref.Name == "" && g.Index == ref.Index {
			found = append(found, g)
		}
	}
	return found
}

// count returns the number of clusters that have a property.
func count(clusters []*progress, has func(*progress) bool) int {
	n := 0
	for _, p := range clusters {
		if has(p) {
			n++
		}
	}
	return n
}

func inProgress(p *progress) bool { return p.inProgress }
func failed(p *progress) bool     { return p.failure }
func pending(p *progress) bool    { return !p.begun }

// stop returns the reason why the failures of a stage stop the rollout, or "". In a
// stage without a name, the failures of all clusters are counted.
func (s *stage) stop(all []*progress) string {
	clusters, where := s.clusters, " in "+s.name
	if s.name == "" {
		clusters, where = all, ""
	}
	if n := count(clusters, failed); n > s.tolerated {
		return fmt.Sprintf("%d failed%s, and at most %d may fail", n, where, s.tolerated)
	}
	return ""
}

// begin begins clusters of the stage up to the limit of clusters in progress, and sets
// the reason for which the others wait.
func (s *stage) begin() {
	working := count(s.clusters, inProgress)
	for _, p := range s.clusters {
		switch {
		case p.begun:
		case working < s.concurrency:
			working++
			p.action, p.reason = Apply, "begins"
			if s.name != "" {
				p.reason = "begins with " + s.name
			} else if s.concurrency < len(s.clusters) {
				p.reason = fmt.Sprintf("begins as number %d of at most %d clusters in progress", working, s.concurrency)
			}
		default:
			p.action, p.reason = Later, fmt.Sprintf("%d of at most %d clusters are in progress", working, s.concurrency)
		}
	}
}

// finished reports whether every cluster has begun, and none is in progress but tolerated
// failures, which may recover later.
func (s *stage) finished() bool {
	working := func(p *progress) bool { return p.inProgress && !p.failure }
	return count(s.clusters, working) == 0 && count(s.clusters, pending) == 0
}

// later sets the reason for which the clusters that have not begun wait.
func (s *stage) later(reason string) {
	for _, p := range s.clusters {
		if !p.begun {
			p.action, p.reason = Later, reason
		}
	}
}
