package placement

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/resource"
)

// PolicyPlan is the answer of `placement plan --as policy`: policies that a control plane of
// Kuma enforces on a growing share of the dataplanes that a policy selects (SPEC 13.7).
type PolicyPlan struct {
	Selected int // dataplanes
	Waves    []PolicyWave
}

// PolicyWave contains the policies for one percentage.
type PolicyWave struct {
	Percent    int
	Dataplanes int // on which the policies are enforced
	Policies   []any
	Whole      bool // the policy itself is the only one
}

// NewPolicyPlan returns the plan for a policy of a view, which has the given document. A wave
// has a copy of the policy for each value of q.By. The error is the one of [NewPlan], or a
// [find.ErrUsage] if the targetRef of the policy cannot have labels.
func NewPolicyPlan(view *core.View, p *resource.Policy, document json.RawMessage, q PlanQuery) (*PolicyPlan, error) {
	if err := canHaveLabels(p); err != nil {
		return nil, err
	}
	selected, groups, err := planned(view, p, q)
	if err != nil {
		return nil, err
	}
	separator, err := separatorOf(view, p, groups)
	if err != nil {
		return nil, err
	}
	plan := &PolicyPlan{Selected: selected}
	for _, share := range sharesOf(q) {
		wave := PolicyWave{Percent: share, Whole: share == 100 && len(q.Labels) == 0}
		n, dataplanes := take(groups, selected, share)
		wave.Dataplanes = dataplanes
		taken := groups[:n]
		if wave.Whole {
			taken = []*group{{}}
		} else if last := taken[n-1]; last.absent {
			return nil, find.NotFoundf("%d %% of the %d dataplanes needs some of the %d without the label %s, which no policy can select by it", share, selected, len(last.dataplanes), q.By)
		}
		names := map[string]bool{}
		for _, g := range taken {
			policy, name, err := copyOf(p, document, q, separator, g.value, wave.Whole)
			if err != nil {
				return nil, err
			}
			if names[name] {
				return nil, find.Usagef("two values of the label %s are the name %q of a policy; choose another label", q.By, name)
			}
			names[name] = true
			wave.Policies = append(wave.Policies, policy)
		}
		plan.Waves = append(plan.Waves, wave)
	}
	return plan, nil
}

// canHaveLabels returns an error if the dataplanes of a policy cannot be selected by labels in
// addition.
func canHaveLabels(p *resource.Policy) error {
	switch t := &p.TargetRef; {
	case t.Kind == resource.TargetMesh && t.ProxyTypes != 0:
		return find.Usagef("%s selects by proxyTypes, and no policy selects by them and labels; use the waves of placements", p.ID)
	case t.Kind == resource.TargetMesh, t.Kind == resource.TargetDataplane && t.Name == "":
		return nil
	}
	return find.Usagef("%s has a targetRef of kind %s without labels; use one of kind Dataplane with labels, or the waves of placements", p.ID, p.TargetRef.Kind)
}

// copyOf returns a document of the policy that enforces, with its name: for the dataplanes with
// a value of the label, or for all.
func copyOf(p *resource.Policy, document json.RawMessage, q PlanQuery, separator, value string, whole bool) (_ any, name string, err error) {
	var policy map[string]any
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber() // as it is written
	if err := decoder.Decode(&policy); err != nil {
		return nil, "", err
	}
	for _, field := range []string{"creationTime", "modificationTime", "kri", "status"} {
		delete(policy, field)
	}
	meta := policy
	if inner, kubernetes := policy["metadata"].(map[string]any); kubernetes {
		meta = inner
		delete(meta, "creationTimestamp")
	}
	name = p.Name
	if !whole {
		name = nameOf(p, separator, value)
		spec, _ := policy["spec"].(map[string]any)
		spec = maps.Clone(spec)
		if spec == nil {
			spec = map[string]any{}
		}
		spec["targetRef"] = targetOf(&p.TargetRef, q, value)
		policy["spec"] = spec
	}
	meta["name"] = name
	if labels, has := meta["labels"].(map[string]any); has {
		delete(labels, resource.EffectLabel)
		if !whole {
			delete(labels, resource.DisplayNameLabel)
		}
		if len(labels) == 0 {
			delete(meta, "labels")
		}
	}
	return policy, name, nil
}

// separatorOf returns what is between the name of a policy and a value in the names of its copies: a
// hyphen or, if a policy of the kind has a name between these names, two. A copy has the place of
// the policy in the order.
func separatorOf(view *core.View, p *resource.Policy, groups []*group) (string, error) {
	order := view.Options().Order
	var between *resource.Policy
	for _, separator := range []string{"-", "--"} {
		between = nil
		for _, g := range groups {
			renamed := *p
			renamed.Name = nameOf(p, separator, g.value)
			renamed.Labels = slices.DeleteFunc(slices.Clone(p.Labels), func(t resource.Tag) bool { return t.Key == resource.DisplayNameLabel })
			for _, other := range view.Policies(p.Mesh) {
				if other.ID != p.ID && other.Type == p.Type && (order(p, other) < 0) != (order(&renamed, other) < 0) {
					between = other
				}
			}
		}
		if between == nil {
			return separator, nil
		}
	}
	return "", find.Usagef("a copy of %s has not its place in the order, because the name of %s is between their names; rename one of them", p.ID, between.ID)
}

func nameOf(p *resource.Policy, separator, value string) string {
	return p.DisplayName() + separator + strings.Trim(notInName.ReplaceAllString(strings.ToLower(value), "-"), "-")
}

var notInName = regexp.MustCompile(`[^a-z0-9]+`)

func targetOf(t *resource.TargetRef, q PlanQuery, value string) map[string]any {
	labels := map[string]any{}
	for _, l := range slices.Concat(t.Labels, q.Labels) {
		labels[l.Key] = l.Value
	}
	labels[q.By] = value
	target := map[string]any{"kind": resource.TargetDataplane.String(), "labels": labels}
	if t.SectionName != "" {
		target["sectionName"] = t.SectionName
	}
	return target
}
