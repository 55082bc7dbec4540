package pages

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/placement"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/enforce/rollout"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// rolloutsData is the data of the page of roll-outs.
type rolloutsData struct {
	Placed   []placedRow
	Rollouts []rolloutRow
	Warnings []finding
	Of       string         // the mesh; "": OCM policies alone
	Why      *placement.Why // of one of them on a cluster, if the form asks
}

// placedRow is a policy with the dataplanes or clusters on which it is enforced or informs.
type placedRow struct {
	Kind, Name, Href  string
	Noun              string // dataplane or cluster
	Enforced, Informs int
	All               int
	Percent           string
	Waves             []waveRow
}

// waveRow is the targets that have the same reasons.
type waveRow struct {
	Because string
	Informs bool
	Count   int
	Targets []link
	More    int
}

// rolloutRow is a Rollout with its waves, which are the groups of its placement.
type rolloutRow struct {
	*rollout.Plan
	Recheck string
	Done    int
	Waves   []groupRow
}

type groupRow struct {
	Group    string
	Done     int
	Clusters []rollout.Cluster
}

// rolloutsAnswer is the JSON of the page.
type rolloutsAnswer struct {
	Placement *placement.Placements `json:"placement"`
	Rollouts  *rollout.Plans        `json:"rollouts"`
}

// maxTargets is the number of targets that a wave shows.
const maxTargets = 50

// rollouts is the page of a mesh. Without a mesh it is about OCM policies and Rollouts, which have
// none.
func (s *site) rollouts(a *ask) (*view, error) {
	v := &view{Title: "Roll-outs", Section: "rollouts"}
	data := rolloutsData{Of: a.mesh}
	if policy, cluster := a.form.Get("policy"), a.form.Get("cluster"); policy != "" || cluster != "" {
		var err error
		if data.Why, err = placement.NewWhy(a.View, find.Name{Name: policy}, cluster); err != nil {
			return nil, err
		}
		if v.JSON = data.Why; a.wantsJSON() {
			return v, nil
		}
	}
	placements := placement.New(a.View, a.mesh)
	plans, warnings := rollout.NewPlans(ocm.Read(a.Set), a.now)
	if data.Why == nil {
		v.JSON = rolloutsAnswer{placements, plans}
	}
	if a.wantsJSON() {
		return v, nil
	}
	data.Placed = lists.MapPointers(placements.Policies, a.placedRowOf)
	data.Rollouts = lists.Map(plans.Rollouts, newRolloutRow)
	data.Warnings = a.findingsOf(warnings)
	v.Data = data
	return v, nil
}

// hasClusters reports whether there is a resource of OCM.
func (a *ask) hasClusters() bool {
	return slices.ContainsFunc(a.Set.Documents, func(d *resource.Document) bool { return ocm.IsKind(d.Kind) })
}

// placedRowOf returns the row of a policy. It groups the targets by their reasons.
func (a *ask) placedRowOf(p *placement.PlacedPolicy) placedRow {
	row := placedRow{
		Kind: p.Kind, Name: resource.ID{Namespace: p.Namespace, Name: p.Name}.Qualified(), Noun: "cluster",
		All: len(p.Targets), Enforced: p.Count(ocm.Enforce), Informs: p.Count(ocm.Inform),
	}
	if _, err := find.Kind(a.View.Kinds(), p.Kind); err == nil {
		row.Noun, row.Href = "dataplane", a.site.ofMesh(a.mesh, "policies", p.Kind, row.Name)
	}
	row.Percent = percent(row.Enforced, row.All)
	for i := range p.Targets {
		t := &p.Targets[i]
		because, informs := strings.Join(t.Because, ", "), t.Action == ocm.Inform.String()
		at := slices.IndexFunc(row.Waves, func(w waveRow) bool { return w.Because == because && w.Informs == informs })
		if at < 0 {
			row.Waves, at = append(row.Waves, waveRow{Because: because, Informs: informs}), len(row.Waves)
		}
		w := &row.Waves[at]
		w.Count++
		if len(w.Targets) == maxTargets {
			w.More++
			continue
		}
		to := link{Text: t.Name, Href: a.site.ofMesh(a.mesh, "dataplanes", t.Name)}
		if t.Dataplane == "" {
			to.Href = with(a.site.to("rollouts"), "policy", row.Name, "cluster", t.Cluster)
		}
		w.Targets = append(w.Targets, to)
	}
	slices.SortStableFunc(row.Waves, func(a, b waveRow) int {
		return cmp.Or(boolToInt(a.Informs)-boolToInt(b.Informs), strings.Compare(a.Because, b.Because))
	})
	return row
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func newRolloutRow(plan *rollout.Plan) rolloutRow {
	row := rolloutRow{Plan: plan}
	if plan.RecheckAfter != nil {
		row.Recheck = plan.RecheckAfter.String()
	}
	for _, c := range plan.Clusters {
		if len(row.Waves) == 0 || row.Waves[len(row.Waves)-1].Group != c.Group {
			row.Waves = append(row.Waves, groupRow{Group: c.Group})
		}
		w := &row.Waves[len(row.Waves)-1]
		w.Clusters = append(w.Clusters, c)
		if c.Action == rollout.Done {
			w.Done++
			row.Done++
		}
	}
	return row
}

// percent returns the share of a number, such as 12 %.
func percent(n, of int) string {
	switch {
	case of == 0:
		return "0 %"
	case n > 0 && n*100 < of:
		return "< 1 %"
	case n < of && n*100 > of*99:
		return "> 99 %"
	}
	return fmt.Sprintf("%d %%", (n*100+of/2)/of)
}

// overrideText is what a binding does to the action of the policy.
func overrideText(b placement.BindingEffect) string {
	text := "none"
	if b.Enforces {
		text = "enforce"
	}
	if b.SubFilter {
		text += ", subFilter"
	}
	return text
}
