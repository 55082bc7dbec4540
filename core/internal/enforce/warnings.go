package enforce

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/index"
)

// Warnings returns warnings about valid resources without effect, sorted by position:
// references to absent resources, placements that select nothing, sets that place
// nothing, and overrides and exclusions without an effect. policies contains the
// policies of all meshes, to which bindings may refer.
func (s *Hub) Warnings(policies []*resource.Policy) []diag.Diagnostic {
	w := warner{Hub: s, mesh: map[name][]*resource.Policy{}}
	for _, p := range policies {
		n := meshPolicyName(p.Kind, p.Namespace, p.Name)
		w.mesh[n] = append(w.mesh[n], p)
	}
	for id := range s.sets[bindings].All() {
		w.binding(s.node(id).resource.(*ocm.PlacementBinding))
	}
	for id := range s.sets[decisions].All() {
		w.decision(s.node(id).resource.(*ocm.PlacementDecision))
	}
	for id := range s.sets[groups].All() {
		w.group(s.node(id))
	}
	return diag.Sorted(w.found)
}

type warner struct {
	*Hub
	mesh  map[name][]*resource.Policy // by the name that a subject has
	found []diag.Diagnostic
}

func (w *warner) warnf(code diag.Code, pos diag.Position, path, hint, format string, args ...any) {
	w.found = append(w.found, diag.Diagnostic{Code: code, Pos: pos, Path: path, What: fmt.Sprintf(format, args...), Hint: hint})
}

func (w *warner) refer(code diag.Code, r *ocm.Ref, hint, format string, args ...any) {
	w.warnf(code, r.Pos, r.Path, hint, format, args...)
}

func (w *warner) binding(b *ocm.PlacementBinding) {
	placement := w.lookup(placementName(b))
	switch rule, isRule := placement.resource.(*ocm.PlacementRule); {
	case placement.resource == nil:
		w.refer(diag.MissingReference, &b.Placement, "", "there is no %s", describe(b.Placement.Kind, b.Namespace, b.Placement.Name))
	case placement.selection.clusters.Len() == 0 && !placement.selection.every && !placement.selection.anywhere:
		w.refer(diag.PlacesNothing, &b.Placement, "", "the binding binds nothing: %s selects no cluster", describe(b.Placement.Kind, b.Namespace, b.Placement.Name))
	case isRule && (rule.DataplaneSelector != nil || rule.Dataplanes != nil) && slices.ContainsFunc(b.Subjects, func(s ocm.Subject) bool { return !s.Mesh }):
		field := "dataplaneSelector"
		if rule.DataplaneSelector == nil {
			field = "list of dataplanes"
		}
		w.refer(diag.FieldNotUsed, &b.Placement, "", "the %s of %s has no effect on policies that are placed on clusters", field, describe(b.Placement.Kind, b.Namespace, b.Placement.Name))
	}
	if b.SubFilter && !b.Enforce {
		w.warnf(diag.PlacesNothing, b.Pos, "", "add an enforce override, or remove the subFilter", "the binding binds nothing: it has a subFilter and no override")
	}
	for i := range b.Subjects {
		w.subject(b, &b.Subjects[i])
	}
}

func (w *warner) subject(b *ocm.PlacementBinding, s *ocm.Subject) {
	n := subjectName(b.Namespace, s)
	if s.Mesh {
		w.meshSubject(b, s, w.mesh[n])
		return
	}
	switch r := w.lookup(n).resource.(type) {
	case nil:
		w.refer(diag.MissingReference, &s.Ref, "", "there is no %s", describe(s.Kind, b.Namespace, s.Name))
	case *ocm.Policy:
		w.override(b, &s.Ref, r)
	case *ocm.PolicySet:
		for _, policy := range r.Policies {
			if p, is := w.lookup(name{ocm.PolicyKind, r.Namespace, policy}).resource.(*ocm.Policy); is {
				w.override(b, &s.Ref, p)
			}
		}
	}
}

// override warns about an override that changes nothing for an OCM policy.
func (w *warner) override(b *ocm.PlacementBinding, at *ocm.Ref, p *ocm.Policy) {
	if !b.Enforce {
		return
	}
	policy := describe(p.Kind, p.Namespace, p.Name)
	effect := w.lookup(nameOf(&p.ID)).effect
	placing := func(x path) bool { return !x.binding.SubFilter }
	reached := func(x path) bool { return x.binding == b && x.clusters.And(effect.placed).Len() > 0 }
	switch {
	case p.Disabled:
		w.refer(diag.OverrideNoEffect, at, "", "the override has no effect: %s is disabled", policy)
	case p.Action == ocm.Enforce:
		w.refer(diag.OverrideNoEffect, at, "", "the override has no effect: %s enforces by itself", policy)
	case p.Action == ocm.InformOnly:
		w.refer(diag.OverrideNoEffect, at, "", "the override has no effect: %s has the action informOnly", policy)
	case b.SubFilter && !slices.ContainsFunc(effect.paths, placing):
		w.refer(diag.OverrideNoEffect, at, "bind it without a subFilter too", "the override has no effect: no binding without a subFilter places %s", policy)
	case b.SubFilter && w.selects(b) && !slices.ContainsFunc(effect.paths, reached):
		w.refer(diag.OverrideNoEffect, at, "", "the override has no effect: it has none of the clusters on which %s is placed", policy)
	}
}

// selects reports whether the placement of a binding selects a cluster.
func (w *warner) selects(b *ocm.PlacementBinding) bool {
	s := w.lookup(placementName(b)).selection
	return s != nil && s.clusters.Len() > 0
}

// meshSubject warns about a subject that is a policy of a mesh. policies contains the
// policies with its kind, namespace and name, in any mesh.
func (w *warner) meshSubject(b *ocm.PlacementBinding, s *ocm.Subject, policies []*resource.Policy) {
	found := false
	for _, p := range policies {
		if mesh, given := b.Labels.Get(resource.MeshLabel); given && mesh != p.Mesh {
			continue
		}
		found = true
		if b.Enforce && !p.Shadow() {
			w.refer(diag.OverrideNoEffect, &s.Ref, "add the label "+resource.EffectLabel+": shadow to it", "the override has no effect: %s enforces by itself", describe(p.Kind, p.Namespace, p.Name))
		}
	}
	if found {
		return
	}
	var elsewhere []string
	for n := range w.mesh {
		if n.kind == subjectName("", s).kind && n.name == s.Name && n.namespace != b.Namespace {
			elsewhere = append(elsewhere, n.namespace)
		}
	}
	hint := ""
	if len(elsewhere) > 0 {
		hint = fmt.Sprintf("there is one in namespace %q; a binding and its subjects must be in the same namespace", slices.Min(elsewhere))
	}
	w.refer(diag.MissingReference, &s.Ref, hint, "there is no %s", describe(s.Kind, b.Namespace, s.Name))
}

func (w *warner) decision(d *ocm.PlacementDecision) {
	path := "metadata.labels[" + strconv.Quote(ocm.PlacementLabel) + "]"
	if d.Placement == "" {
		w.warnf(diag.MissingReference, d.Pos, path, "add the label", "the decision belongs to no placement")
	} else if w.lookup(name{ocm.PlacementKind, d.Namespace, d.Placement}).resource == nil {
		w.warnf(diag.MissingReference, d.Pos, path, "", "there is no %s", describe(ocm.PlacementKind, d.Namespace, d.Placement))
	}
}

// group warns about names in a PolicySet that do not exist, and a Placement without
// decisions.
func (w *warner) group(n *node) {
	switch r := n.resource.(type) {
	case *ocm.Placement:
		if len(n.users) == 0 || !slices.ContainsFunc(n.users, func(id uint32) bool {
			_, is := w.node(id).resource.(*ocm.PlacementDecision)
			return is
		}) {
			w.warnf(diag.PlacesNothing, r.Pos, "", "add a PlacementDecision with the label "+ocm.PlacementLabel+": "+r.Name, "the placement selects nothing: it has no decisions")
		}
	case *ocm.PolicySet:
		w.policySet(n, r)
	}
}

// policySet warns about names in a PolicySet that do not exist, and about what it has
// without an effect: it is not bound, or an exclusion takes no cluster or every cluster
// away.
func (w *warner) policySet(n *node, s *ocm.PolicySet) {
	var bound index.Set // the clusters of its bindings
	for _, id := range n.users {
		if b, is := w.node(id).resource.(*ocm.PlacementBinding); is {
			if selection := w.lookup(placementName(b)).selection; selection != nil {
				bound = bound.Or(selection.clusters)
			}
		}
	}
	switch {
	case len(s.Policies) == 0:
		w.warnf(diag.PlacesNothing, s.Pos, "", "", "the set places nothing: it has no policies")
	case len(n.users) == 0:
		w.warnf(diag.PlacesNothing, s.Pos, "", "add a binding with it as a subject", "the set places nothing: no binding has it")
	}
	left := map[string]index.Set{} // of the clusters, by member
	for i, policy := range s.Policies {
		if w.lookup(name{ocm.PolicyKind, s.Namespace, policy}).resource == nil {
			w.warnf(diag.MissingReference, s.Pos, fmt.Sprintf("spec.policies[%d]", i), "", "there is no %s", describe(ocm.PolicyKind, s.Namespace, policy))
		}
		left[policy] = bound
	}
	for i := range s.Exclusions {
		e, path := &s.Exclusions[i], fmt.Sprintf("spec.exclusions[%d]", i)
		if before, is := left[e.Policy]; !is {
			w.warnf(diag.MissingReference, s.Pos, path+".policyName", "", "the set does not contain Policy %q", e.Policy)
		} else {
			left[e.Policy] = w.exclusion(s, e, path, bound, before)
		}
	}
	for i, policy := range s.Policies {
		if bound.Len() > 0 && left[policy].Len() == 0 {
			w.warnf(diag.PlacesNothing, s.Pos, fmt.Sprintf("spec.policies[%d]", i), "", "the set places Policy %q nowhere: it excludes every cluster of its bindings", policy)
		}
	}
}

// exclusion warns about clusters of an exclusion that it does not take away: no binding
// of the set has them, or an earlier exclusion does. left are the clusters that the
// earlier ones leave of bound; the result are those that are left then.
func (w *warner) exclusion(s *ocm.PolicySet, e *ocm.Exclusion, path string, bound, left index.Set) index.Set {
	if len(e.Clusters) == 0 {
		w.warnf(diag.OverrideNoEffect, s.Pos, path, "", "the exclusion has no effect: it has no clusters")
		return left
	}
	if bound.Len() == 0 {
		return left
	}
	after := left.Edit()
	for i, cluster := range e.Clusters {
		id, _ := w.names.Lookup(clusterName(cluster))
		at := fmt.Sprintf("%s.clusterNames[%d]", path, i)
		switch {
		case after.Remove(id):
		case bound.Contains(id):
			w.warnf(diag.OverrideNoEffect, s.Pos, at, "", "the exclusion has no effect: the cluster %q is excluded already", cluster)
		default:
			w.warnf(diag.OverrideNoEffect, s.Pos, at, "", "the exclusion has no effect: no binding of the set has the cluster %q", cluster)
		}
	}
	return after.Commit()
}

func describe(kind, namespace, name string) string {
	text := kind + " " + strconv.Quote(name)
	if namespace != "" {
		text += " in namespace " + strconv.Quote(namespace)
	}
	return text
}
