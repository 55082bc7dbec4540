package migrate

import (
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/resource"
)

// target is a selection of dataplanes by labels, and of one inbound of each.
type target struct {
	labels  tree
	section string // "": all inbounds
}

// asTargetRef returns the targetRef.
func (t *target) asTargetRef() tree {
	ref := tree{"kind": "Dataplane", "labels": t.labels}
	if t.section != "" {
		ref["sectionName"] = t.section
	}
	return ref
}

// labelled returns labels that select exactly what the policy selects: those equal to
// its targetRef's tags, or one shared label. Dataplanes outside the policy's role and
// origin are ignored. It returns nil if there are no such labels.
func (r *rewriter) labelled(p *resource.Policy) *target {
	selected, err := r.view.SelectedBy(p.ID)
	if err != nil || len(selected) == 0 {
		return nil
	}
	wanted := map[*resource.Dataplane]bool{}
	section := ""
	for i := range selected {
		d := selected[i].Dataplane
		wanted[d] = true
		name, ok := sectionOf(d, func(k int) bool { return selected[i].Inbounds.Has(k) })
		if !ok || i > 0 && name != section {
			return nil
		}
		section = name
	}
	allowed := lists.Filter(r.view.Dataplanes(p.Mesh), func(d *resource.Dataplane) bool { return r.inScope(p, d) })
	exact := func(labels resource.Tags) bool {
		return !slices.ContainsFunc(allowed, func(d *resource.Dataplane) bool { return r.labels(d).Contains(labels) != wanted[d] })
	}
	first := r.labels(selected[0].Dataplane)
	equal := slices.DeleteFunc(slices.Clone(p.TargetRef.Selector()), func(tag resource.Tag) bool { return tag.Value == specs.AnyValue }) // a label has no any value
	candidates := []resource.Tags{equal}
	for _, key := range []string{"app", "app.kubernetes.io/name", resource.WorkloadLabel} {
		if value, has := first.Get(key); has {
			candidates = append(candidates, resource.Tags{{Key: key, Value: value}})
		}
	}
	for _, label := range first {
		candidates = append(candidates, resource.Tags{label})
	}
	for _, labels := range candidates {
		if len(labels) > 0 && exact(labels) {
			return &target{labels: asTree(labels), section: section}
		}
	}
	return nil
}

// sectionOf returns the name of the only inbound, or listener of a zone proxy, that is
// selected; empty if all are.
func sectionOf(d *resource.Dataplane, has func(int) bool) (name string, ok bool) {
	sections := append(lists.MapPointers(d.Inbounds, (*resource.Inbound).SectionName), lists.MapPointers(d.Listeners, (*resource.Listener).SectionName)...)
	count := 0
	for k, section := range sections {
		if has(k) {
			count++
			name = section
		}
	}
	if count == len(sections) {
		return "", true
	}
	same := 0
	for _, section := range sections {
		if section == name {
			same++
		}
	}
	return name, count == 1 && same == 1
}

// inScope reports whether a policy for the whole mesh with the same metadata selects a
// dataplane.
func (r *rewriter) inScope(p *resource.Policy, d *resource.Dataplane) bool {
	whole := *p
	whole.TargetRef = resource.WholeMesh()
	required, _ := r.view.Semantics().AppendRequired(nil, &whole)
	have := map[semantics.Fact]bool{}
	r.view.Semantics().ProxyFacts(d, func(f semantics.Fact) { have[f] = true })
	for _, fact := range required {
		anyZone := semantics.Fact{Space: semantics.ZoneScope, Value: semantics.AnyZone}
		if !have[fact] && (fact.Space != semantics.ZoneScope || !have[anyZone]) {
			return false
		}
	}
	return true
}

// labels returns the labels that a dataplane has after the rewrite: with the tags of its
// inbounds or its gateway, if the document can have them and they do not differ.
func (r *rewriter) labels(d *resource.Dataplane) resource.Tags {
	known, ok := r.labelsOf[d.ID]
	if ok {
		return known
	}
	all := map[string]string{}
	for _, label := range d.Labels {
		all[label.Key] = label.Value
	}
	maps.Copy(all, r.tagsAsLabels(d))
	all[resource.DisplayNameLabel] = d.DisplayName() // each dataplane has it
	known = resource.NewTags(all)
	r.labelsOf[d.ID] = known
	return known
}

// tagsAsLabels returns the tags that become labels of a dataplane.
func (r *rewriter) tagsAsLabels(d *resource.Dataplane) map[string]string {
	if document := r.document(&d.Meta); document == nil || !document.universal() {
		return nil // Kubernetes copies the labels of the pod
	}
	out := map[string]string{}
	differing := map[string]bool{}
	add := func(tags resource.Tags) {
		for _, tag := range tags {
			if _, labelled := d.Labels.Get(tag.Key); labelled || tag.Key == resource.ProtocolTag || tag.Key == resource.ZoneTag {
				continue
			}
			if before, twice := out[tag.Key]; twice && before != tag.Value {
				differing[tag.Key] = true
			}
			out[tag.Key] = tag.Value
		}
	}
	for i := range d.Inbounds {
		add(d.Inbounds[i].Tags)
	}
	if d.Gateway != nil {
		add(d.Gateway.Tags)
	}
	for key := range differing {
		delete(out, key)
	}
	return out
}

// nameLabels returns the labels by which Kuma 3 refers to a resource.
func nameLabels(m *resource.Meta) tree { return labelsOf(m.DisplayName(), m.HomeNamespace(), m.Zone()) }

// labelsOf returns the labels of what has a name, in a namespace and a zone if they are given.
func labelsOf(name, namespace, zone string) tree {
	labels := tree{resource.DisplayNameLabel: name}
	if namespace != "" {
		labels[resource.NamespaceLabel] = namespace
	}
	if zone != "" {
		labels[resource.ZoneTag] = zone
	}
	return labels
}

func asTree(tags resource.Tags) tree {
	out := tree{}
	for _, tag := range tags {
		out[tag.Key] = tag.Value
	}
	return out
}

// asTags returns labels with texts as values.
func asTags(labels tree) resource.Tags {
	out := map[string]string{}
	for key, value := range labels {
		out[key], _ = value.(string)
	}
	return resource.NewTags(out)
}
