package migrate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// split divides a policy with `to` and `rules` into two, if Kuma 2 or Kuma 3 refuses both in one
// policy of the kind. The rules move, except those of the default MeshTimeout: there `to` moves,
// to the name that Kuma 3 gives it (SPEC 17.5).
func (r *rewriter) split(p *resource.Policy, d *document) {
	if p.Type.ToOrRules == 0 || d.spec()["to"] == nil || d.spec()["rules"] == nil {
		return
	}
	array, name := "rules", p.Name+"-rules"
	if p.Kind == "MeshTimeout" && p.Name == "mesh-timeout-all-"+p.Mesh {
		array, name = "to", "mesh-timeout-to-all-"+p.Mesh
	}
	for n := 2; r.hasPolicy(p, name); n++ {
		name = fmt.Sprintf("%s-%s-%d", p.Name, array, n)
	}
	spec := tree{array: d.spec()[array]}
	if target := d.spec()["targetRef"]; target != nil {
		spec["targetRef"] = target
	}
	delete(d.spec(), array)
	d.edited("spec." + array)
	d.moved = &document{fields: tree{"spec": spec}, edits: []string{"spec." + array}}
	d.moved.meta = &resource.Meta{ID: p.ID, Pos: p.Pos}
	d.moved.meta.Name = name
	d.moved.identify(d, name, array == "rules")
}

func (r *rewriter) hasPolicy(p *resource.Policy, name string) bool {
	return slices.ContainsFunc(r.set.Policies, func(o *resource.Policy) bool {
		return o.Kind == p.Kind && o.Mesh == p.Mesh && o.Namespace == p.Namespace && o.Name == name
	})
}

// identify gives a document the kind, the mesh, the namespace and the labels of another one, and
// a name. Rules alone have no role of `to` items: a control plane gives the role workload-owner to
// a policy in a namespace.
func (d *document) identify(from *document, name string, rules bool) {
	labels := maps.Clone(mapping(from.fields, "labels"))
	if !from.universal() {
		labels = maps.Clone(mapping(from.fields, "metadata", "labels"))
	}
	if labels[resource.DisplayNameLabel] != nil {
		labels[resource.DisplayNameLabel] = name
	}
	if role := labels[resource.PolicyRoleLabel]; rules && (role == "producer" || role == "consumer") {
		labels[resource.PolicyRoleLabel] = "workload-owner"
	}
	for _, field := range from.order {
		switch field {
		case "type", "apiVersion", "kind", "mesh":
			d.fields[field] = from.fields[field]
		case "name":
			d.fields[field] = name
		case "metadata":
			metadata := tree{"name": name}
			if namespace := mapping(from.fields, field)["namespace"]; namespace != nil {
				metadata["namespace"] = namespace
			}
			d.fields[field] = metadata
		case "spec":
		default:
			continue
		}
		d.order = append(d.order, field)
	}
	if len(labels) > 0 {
		maps.Copy(d.labels(), labels)
	}
}
