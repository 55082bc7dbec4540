package rollout

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
)

// Group is a decision group of a placement, with its clusters.
type Group struct {
	ocm.Group
	Clusters []string
}

// String returns the name of the group, or its index if it has no name.
func (g *Group) String() string {
	if g.Name != "" {
		return g.Name
	}
	return strconv.Itoa(g.Index)
}

// size returns the number of the given clusters in the group.
func (g *Group) size(clusters []*progress) int {
	return count(clusters, func(p *progress) bool { return p.group == g })
}

// Groups returns the groups of a placement from its decisions, sorted by index and
// name. The clusters of a group are sorted. A cluster of several groups is only in
// the first of them.
func Groups(decisions []*ocm.PlacementDecision) []Group {
	clusters := map[ocm.Group][]string{}
	for _, d := range decisions {
		clusters[d.Group] = append(clusters[d.Group], d.Clusters...)
	}
	groups := make([]Group, 0, len(clusters))
	for g := range clusters {
		groups = append(groups, Group{Group: g})
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Name, b.Name))
	})
	seen := map[string]bool{}
	for i := range groups {
		names := clusters[groups[i].Group]
		slices.Sort(names)
		for _, name := range names {
			if !seen[name] {
				seen[name] = true
				groups[i].Clusters = append(groups[i].Clusters, name)
			}
		}
	}
	return groups
}

// Action is the action of a plan for a cluster.
type Action string

// The actions.
const (
	Apply    Action = "apply"     // apply the change
	Wait     Action = "wait"      // the change is applied; wait for the result
	Done     Action = "done"      // the change succeeded
	TimedOut Action = "timed out" // the change did not succeed before the deadline
	Skip     Action = "skip"      // the cluster takes no part in the rollout
	Later    Action = "later"     // the cluster has not begun, and does not begin now
)

// Plan contains the action for each cluster of a rollout at one time.
type Plan struct {
	Name string `json:"name"`
	// Clusters are sorted by group, and within a group by name.
	Clusters []Cluster `json:"clusters"`
	// Stopped reports whether there are more failures than the strategy
	// tolerates. No further cluster begins until enough of them have succeeded.
	Stopped bool `json:"stopped"`
	// RecheckAfter is the time after which the plan changes without a new
	// status; nil: never.
	RecheckAfter *conf.Duration `json:"recheckAfter,omitempty"`
	// Decisions contains the clusters to which the change is applied, or remains
	// applied.
	Decisions []Decision `json:"decisions"`
}

// Cluster is the plan for one cluster.
type Cluster struct {
	Cluster string     `json:"cluster"`
	Group   string     `json:"group"` // its name, or its index if it has none
	Status  ocm.Status `json:"status,omitempty"`
	Action  Action     `json:"action"`
	Reason  string     `json:"reason"`
}

// Decision contains the clusters of a group to which the change is applied.
// Groups without such a cluster are omitted.
type Decision struct {
	GroupName  string   `json:"groupName"`
	GroupIndex int      `json:"groupIndex"`
	Clusters   []string `json:"clusters"`
}

// New plans a rollout over the groups of its placement, as [Groups] returns
// them.
func New(r *ocm.Rollout, groups []Group, now time.Time) *Plan {
	clusters := progressOfAll(r, groups, now)
	plan := &Plan{Name: r.Name, Clusters: []Cluster{}, Decisions: []Decision{}}
	blocked := "" // the reason why no further cluster begins
	for _, s := range stages(&r.Strategy, groups, clusters) {
		if stop := s.stop(clusters); stop != "" && blocked == "" {
			plan.Stopped, blocked = true, "the rollout stopped: "+stop
		}
		if blocked != "" {
			s.later(blocked)
			continue
		}
		finished := s.finished()
		s.begin()
		if !finished {
			blocked = s.name + " is not finished"
		}
	}
	plan.report(groups, clusters, now)
	return plan
}

func progressOfAll(r *ocm.Rollout, groups []Group, now time.Time) []*progress {
	status := map[string]*ocm.ClusterStatus{}
	for i := range r.Status {
		status[r.Status[i].Cluster] = &r.Status[i]
	}
	var clusters []*progress
	for i := range groups {
		for _, cluster := range groups[i].Clusters {
			p := progressOf(cluster, &groups[i], status[cluster], &r.Strategy, now)
			clusters = append(clusters, &p)
		}
	}
	return clusters
}

// report sets the fields of the plan.
func (plan *Plan) report(groups []Group, clusters []*progress, now time.Time) {
	for i := range groups {
		g := &groups[i]
		decision := Decision{GroupName: g.Name, GroupIndex: g.Index}
		for _, p := range clusters {
			if p.group != g {
				continue
			}
			plan.Clusters = append(plan.Clusters, Cluster{p.cluster, g.String(), p.status, p.action, p.reason})
			if p.action == Apply || p.action == Wait || p.action == Done {
				decision.Clusters = append(decision.Clusters, p.cluster)
			}
		}
		if len(decision.Clusters) > 0 {
			plan.Decisions = append(plan.Decisions, decision)
		}
	}
	for _, p := range clusters {
		if p.until.IsZero() {
			continue
		}
		if after := conf.Duration(p.until.Sub(now)); plan.RecheckAfter == nil || after < *plan.RecheckAfter {
			plan.RecheckAfter = &after
		}
	}
}
