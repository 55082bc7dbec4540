package placement

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Plan is the answer of `placement plan`: documents that enforce a policy on a
// growing share of the dataplanes that it selects (SPEC 13.7).
type Plan struct {
	Selected int // dataplanes
	Waves    []Wave
}

// Wave contains the documents for one percentage.
type Wave struct {
	Percent    int
	Dataplanes int // on which the policy is enforced
	Rule       ocm.RuleDocument
	Binding    ocm.BindingDocument
}

// PlanQuery selects the shares of a policy's dataplanes.
type PlanQuery struct {
	Percent []int // from 1 to 100
	// By is the label whose values are not divided between waves; "": each dataplane
	// is separate.
	By string
	// Labels restricts the plan to the dataplanes that have them.
	Labels resource.Tags
}

// group is a set of dataplanes on which the policy is enforced together.
type group struct {
	hash       [sha256.Size]byte
	value      string // of the label, or the zone
	absent     bool   // the dataplanes do not have the label; such a group is the last
	dataplanes []ocm.DataplaneName
}

// NewPlan returns the plan for a policy of a view. The groups of dataplanes are in
// the order of a hash, and a wave contains the first groups that reach its share. So a wave
// contains the earlier waves, and changes by at most as many groups as are added or
// removed. The error is [find.ErrNotFound] if the policy selects no dataplane, or no dataplane
// has the label.
func NewPlan(view *core.View, p *resource.Policy, q PlanQuery) (*Plan, error) {
	selected, groups, err := planned(view, p, q)
	if err != nil {
		return nil, err
	}
	plan := &Plan{Selected: selected}
	for _, share := range sharesOf(q) {
		taken, dataplanes := take(groups, selected, share)
		wave := Wave{Percent: share, Dataplanes: dataplanes}
		name := strings.ToLower(fmt.Sprintf("%s-%s-%d", p.Kind, p.Name, share))
		wave.Rule = ocm.NewRuleDocument(p.Namespace, name, ruleSpec(groups[:taken], share == 100 && len(q.Labels) == 0, q))
		wave.Binding = ocm.NewBindingDocument(p, name)
		plan.Waves = append(plan.Waves, wave)
	}
	return plan, nil
}

// planned returns how many dataplanes a plan is about, and their groups.
func planned(view *core.View, p *resource.Policy, q PlanQuery) (int, []*group, error) {
	selected, err := view.SelectedBy(p.ID)
	if err != nil {
		return 0, nil, err
	}
	if len(selected) == 0 {
		return 0, nil, find.NotFoundf("%s selects no dataplane", p.ID)
	}
	all := len(selected)
	selected = slices.DeleteFunc(selected, func(s core.Selection) bool { return !s.Dataplane.Labels.Contains(q.Labels) })
	if len(selected) == 0 {
		return 0, nil, find.NotFoundf("none of the %d dataplanes that %s selects has the labels %s", all, p.ID, q.Labels)
	}
	groups := groupsOf(selected, q.By)
	if groups[0].absent {
		return 0, nil, find.NotFoundf("none of the %d dataplanes that %s selects has the label %s", len(selected), p.ID, q.By)
	}
	return len(selected), groups, nil
}

// sharesOf returns the percentages, ascending.
func sharesOf(q PlanQuery) []int {
	return slices.Compact(slices.Sorted(slices.Values(q.Percent)))
}

// take returns how many of the first groups reach a share, and their dataplanes.
func take(groups []*group, selected, share int) (taken, dataplanes int) {
	for want := (selected*share + 99) / 100; dataplanes < want; taken++ {
		dataplanes += len(groups[taken].dataplanes)
	}
	return taken, dataplanes
}

// groupsOf returns the groups of dataplanes in the order of enforcement.
func groupsOf(selected []core.Selection, by string) []*group {
	known := map[string]*group{}
	var groups []*group
	for _, s := range selected {
		d := s.Dataplane
		key, absent := strings.Join([]string{d.Mesh, d.Namespace, d.Name}, "\x00"), false
		switch by {
		case "":
		case resource.ZoneTag:
			key = enforce.ZoneOf(d)
			absent = key == ""
		default:
			value, present := d.Labels.Get(by)
			key, absent = value, !present
		}
		id := fmt.Sprint(absent, key)
		g := known[id]
		if g == nil {
			g = &group{hash: sha256.Sum256([]byte(key)), value: key, absent: absent}
			known[id], groups = g, append(groups, g)
		}
		g.dataplanes = append(g.dataplanes, ocm.DataplaneName{Mesh: d.Mesh, Namespace: d.Namespace, Name: d.Name})
	}
	slices.SortFunc(groups, func(a, b *group) int {
		switch {
		case a.absent:
			return 1
		case b.absent:
			return -1
		}
		return bytes.Compare(a.hash[:], b.hash[:])
	})
	return groups
}

// ruleSpec returns the spec of a rule that selects some groups. If all is true, they are
// all groups, and the rule selects every dataplane, even dataplanes that are added later.
// If a group does not have the label, or the plan is about some dataplanes, the rule lists the
// dataplanes of all its groups by name.
func ruleSpec(groups []*group, all bool, q PlanQuery) ocm.RuleSpec {
	var values []string
	var names []ocm.DataplaneName
	for _, g := range groups {
		values = append(values, g.value)
		names = append(names, g.dataplanes...)
	}
	slices.Sort(values)
	byName := q.By == "" || len(q.Labels) > 0 || slices.ContainsFunc(groups, func(g *group) bool { return g.absent })
	switch {
	case all:
		return ocm.RuleSpec{DataplaneSelector: &ocm.SelectorDocument{}}
	case byName:
		slices.SortFunc(names, ocm.DataplaneName.Compare)
		return ocm.RuleSpec{Dataplanes: names}
	case q.By == resource.ZoneTag:
		return ocm.RuleSpec{Clusters: lists.Map(values, func(zone string) ocm.ClusterName { return ocm.ClusterName{Name: zone} })}
	}
	return ocm.RuleSpec{DataplaneSelector: &ocm.SelectorDocument{MatchExpressions: []ocm.RequirementDocument{{Key: q.By, Operator: ocm.In, Values: values}}}}
}
