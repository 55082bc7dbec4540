package migrate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/permission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// policy edits the document of a policy.
func (r *rewriter) policy(p *resource.Policy) {
	d := r.document(&p.Meta)
	if d == nil {
		return
	}
	r.name(&p.Meta)
	r.topTarget(p, d)
	r.from(p, d)
	items := list(d.spec(), "to")
	for i := range min(len(p.To), len(items)) {
		field := fmt.Sprintf("spec.to[%d]", i)
		r.reference(p, d, mapping(items[i], "targetRef"), &p.To[i].TargetRef, p.To[i].Pos, field+".targetRef")
		r.backends(p, d, items[i], p.To[i].Pos, field)
		r.conf(p, d, mapping(items[i], "default"), p.To[i].Pos, field+".default")
	}
	for _, array := range []string{"from", "rules"} {
		for i, item := range list(d.spec(), array) {
			r.conf(p, d, mapping(item, "default"), p.Pos, fmt.Sprintf("spec.%s[%d].default", array, i))
		}
	}
	r.conf(p, d, mapping(d.spec(), "default"), p.Pos, "spec.default")
	r.split(p, d)
}

// topTarget rewrites a top-level targetRef that Kuma 3 reads differently.
func (r *rewriter) topTarget(p *resource.Policy, d *document) {
	t := &p.TargetRef
	what := ""
	var replaced tree
	// Items for the listeners of builtin gateways need a targetRef that includes gateways.
	byLabels := len(p.Gateway) == 0
	switch {
	case t.Kind == resource.TargetDataplane && t.Name != "":
		what = "Kuma 3 reads no name in a targetRef of kind Dataplane: the policy selects all dataplanes"
		// A name means dataplanes in the zone of the policy, and in the namespace of the targetRef or of
		// the policy.
		by := target{labelsOf(t.Name, cmp.Or(t.Namespace, p.HomeNamespace()), p.Zone()), t.SectionName}
		replaced = by.asTargetRef()
	case t.Kind == resource.TargetMesh && t.ProxyTypes != 0:
		what = "Kuma 3 has no proxyTypes: the policy selects all dataplanes"
		if whole := r.wholeScope(p); whole {
			replaced = tree{"kind": "Mesh"}
		} else if by := r.labelled(p); by != nil && byLabels {
			replaced = by.asTargetRef()
		}
	case t.Kind == resource.TargetMesh, t.Kind == resource.TargetDataplane:
		return
	default:
		what = fmt.Sprintf("Kuma 3 has no top-level targetRef of kind %s: the policy applies to nothing", t.Kind)
		if t.Kind == resource.TargetMeshSubset && len(t.Tags) == 0 && t.ProxyTypes == 0 {
			replaced = tree{"kind": "Mesh"}
		} else if by := r.labelled(p); by != nil && byLabels && !t.Kind.IsRoute() && t.Kind != resource.TargetMeshGateway {
			replaced = by.asTargetRef()
		}
	}
	if replaced != nil {
		d.spec()["targetRef"] = replaced
		d.edited("spec.targetRef")
	}
	r.find(diag.TargetNotInKuma3, p.TargetPos, "spec.targetRef", hintOf(replaced != nil, "give the dataplanes a label of their own, and select them by it"), "%s", what)
}

// wholeScope reports whether a policy selects every dataplane that its role and its origin
// allow. Builtin gateways do not matter: Kuma 3 reads none of them. Labels in the place of
// `proxyTypes: [Sidecar]` would exclude them, but they would also make the policy override
// those for the whole mesh.
func (r *rewriter) wholeScope(p *resource.Policy) bool {
	selected, err := r.view.SelectedBy(p.ID)
	if err != nil {
		return false
	}
	isRead := func(d *resource.Dataplane) bool { return d.Gateway == nil || !d.Gateway.Builtin }
	allowed, read := 0, 0
	for _, d := range r.view.Dataplanes(p.Mesh) {
		if isRead(d) && r.inScope(p, d) {
			allowed++
		}
	}
	for i := range selected {
		if isRead(selected[i].Dataplane) {
			read++
		}
	}
	return read == allowed && (read > 0 || len(selected) == 0)
}

// from rewrites `from`, which Kuma 3 does not read.
func (r *rewriter) from(p *resource.Policy, d *document) {
	if len(p.From) == 0 {
		return
	}
	effect := "what it configures is lost"
	if p.Kind == permission.KindName {
		effect = "every client that no other policy allows is denied"
	}
	rules, by := r.rulesOf(p, list(d.spec(), "from")), "write rules, which match clients by their SPIFFE IDs"
	if rules != nil {
		delete(d.spec(), "from")
		d.spec()["rules"] = rules
		d.edited("spec.from")
	}
	r.find(diag.FromNotInKuma3, p.From[0].Pos, "spec.from", hintOf(rules != nil, by),
		"Kuma 3 reads no `from`: %s", effect)
}

// rulesOf returns the rules that decide as `from` items; nil if there are none.
func (r *rewriter) rulesOf(p *resource.Policy, items []any) []any {
	if p.Kind == permission.KindName {
		return r.permissionRules(p)
	}
	asRules := r.view.Semantics().FromItems(p.Type) == semantics.FromAsRules
	var rules []any
	for i, item := range items {
		if i >= len(p.From) || !asRules && p.From[i].TargetRef.Kind != resource.TargetMesh {
			return nil
		}
		rule := tree{}
		if conf := fieldAt(item, "default"); conf != nil {
			rule["default"] = conf
		}
		rules = append(rules, rule)
	}
	return rules
}

// reference rewrites a reference of a `to` item to labels.
func (r *rewriter) reference(p *resource.Policy, d *document, written tree, t *resource.TargetRef, pos diag.Position, path string) {
	switch {
	case t.Kind == resource.TargetMesh || t.Name == "" && len(t.Tags) == 0:
		return
	case t.Kind == resource.TargetMeshSubset, t.Kind == resource.TargetMeshServiceSubset, written == nil:
		r.find(diag.ReferenceNotInKuma3, pos, path, "refer to a MeshService by its labels", "Kuma 3 has no outbounds with tags: the item has no effect")
		return
	}
	labels, section := r.labelsOfName(p, t)
	if labels == nil {
		r.find(diag.ReferenceNotInKuma3, pos, path, fmt.Sprintf("refer to a %s of the mesh by its labels", t.Kind),
			"Kuma 3 reads no name, and the mesh has no %s %q: the item has no effect", t.Kind, t.Name)
		return
	}
	delete(written, "name")
	delete(written, "namespace")
	written["labels"] = labels
	if section != "" {
		written["sectionName"] = section
	}
	d.edited(path)
	r.find(diag.ReferenceNotInKuma3, pos, path, rewritten, "Kuma 3 reads no name in a reference: the item has no effect")
}

// labelsOfName returns labels that find what a name finds, and the section; nil if there
// are none.
func (r *rewriter) labelsOfName(p *resource.Policy, t *resource.TargetRef) (labels tree, section string) {
	var found, all []*resource.Meta
	if t.Kind.IsRoute() {
		for _, route := range r.view.Policies(p.Mesh) {
			if route.Kind != t.Kind.String() {
				continue
			}
			all = append(all, &route.Meta)
			if r.view.Semantics().RefersToRoute(p, t, route) {
				found = append(found, &route.Meta)
			}
		}
	} else {
		set := r.view.Destinations(p.Mesh)
		if set == nil {
			return nil, ""
		}
		for _, f := range set.Find(p, t) {
			found = append(found, f.Destination.Identity())
			if section = f.Section; section == t.SectionName {
				section = ""
			}
		}
		ofKind := lists.Filter(set.All(), func(d resource.Destination) bool { return d.Identity().Kind == t.Kind.String() })
		all = lists.Map(ofKind, resource.Destination.Identity)
	}
	if len(found) == 0 {
		return nil, ""
	}
	labels = nameLabels(found[0])
	// Without the label of the zone an item for the own namespace is still a producer's, whose
	// policy applies to clients of every namespace.
	unzoned := maps.Clone(labels)
	delete(unzoned, resource.ZoneTag)
	for _, candidate := range []tree{unzoned, labels} {
		tags := asTags(candidate)
		matching := slices.DeleteFunc(slices.Clone(all), func(m *resource.Meta) bool { return !m.HasLabels(tags) })
		if slices.EqualFunc(matching, found, func(x, y *resource.Meta) bool { return x.ID == y.ID }) {
			return candidate, section
		}
	}
	return nil, ""
}

// backends rewrites the backendRefs of a route's item.
func (r *rewriter) backends(p *resource.Policy, d *document, item any, pos diag.Position, path string) {
	if !p.IsRoute() {
		return
	}
	for i, rule := range list(item, "rules") {
		for k, ref := range list(rule, "default", "backendRefs") {
			r.backend(p, d, mapping(ref), pos, fmt.Sprintf("%s.rules[%d].default.backendRefs[%d]", path, i, k))
		}
		for k, filter := range list(rule, "default", "filters") {
			r.backend(p, d, mapping(filter, "requestMirror", "backendRef"), pos, fmt.Sprintf("%s.rules[%d].default.filters[%d].requestMirror.backendRef", path, i, k))
		}
	}
}

func (r *rewriter) backend(p *resource.Policy, d *document, ref tree, pos diag.Position, path string) {
	if ref == nil || text(ref, "name") == "" && ref["tags"] == nil {
		return
	}
	kind, known := resource.ParseTargetKind(text(ref, "kind"))
	var labels tree
	if known && ref["tags"] == nil {
		labels, _ = r.labelsOfName(p, &resource.TargetRef{Kind: kind, Name: text(ref, "name"), Namespace: text(ref, "namespace")})
	}
	if labels != nil {
		delete(ref, "name")
		delete(ref, "namespace")
		ref["labels"] = labels
		d.edited(path)
	}
	r.find(diag.ReferenceNotInKuma3, pos, path, hintOf(labels != nil, "refer to a MeshService of the mesh by its labels"),
		"Kuma 3 reads no name and no tags in a backendRef: its share of requests gets an error")
}

// conf rewrites fields of a conf.
func (r *rewriter) conf(p *resource.Policy, d *document, conf tree, pos diag.Position, path string) {
	if conf == nil {
		return
	}
	switch p.Kind {
	case "MeshHealthCheck":
		if conf["healthyPanicThreshold"] != nil {
			r.find(diag.FieldNotInKuma3, pos, path+".healthyPanicThreshold", "write outlierDetection.healthyPanicThreshold of a MeshCircuitBreaker", "Kuma 3 has no such field")
		}
	case "MeshLoadBalancingStrategy":
		for _, balancer := range []string{"ringHash", "maglev"} {
			inside := mapping(conf, "loadBalancer", balancer)
			policies, has := inside["hashPolicies"]
			if !has {
				continue
			}
			beside := conf["hashPolicies"] == nil
			if beside {
				delete(inside, "hashPolicies")
				conf["hashPolicies"] = policies
				d.edited(path + ".loadBalancer." + balancer + ".hashPolicies")
			}
			r.find(diag.FieldNotInKuma3, pos, path+".loadBalancer."+balancer+".hashPolicies", hintOf(beside, "remove it: hashPolicies beside loadBalancer hold"),
				"Kuma 3 has hashPolicies beside loadBalancer only")
		}
	case "MeshAccessLog", "MeshTrace", "MeshMetric":
		for i, backend := range list(conf, "backends") {
			if mapping(backend, "openTelemetry")["endpoint"] != nil {
				r.find(diag.FieldNotInKuma3, pos, fmt.Sprintf("%s.backends[%d].openTelemetry.endpoint", path, i),
					"write a MeshOpenTelemetryBackend, and refer to it by backendRef", "Kuma 3 has no endpoint of an OpenTelemetry backend")
			}
			r.collector(p, d, mapping(backend, "openTelemetry", "backendRef"), pos, fmt.Sprintf("%s.backends[%d].openTelemetry.backendRef", path, i))
		}
	}
}

// collector rewrites a reference by name to a MeshOpenTelemetryBackend.
func (r *rewriter) collector(p *resource.Policy, d *document, ref tree, pos diag.Position, path string) {
	name := text(ref, "name")
	if name == "" {
		return
	}
	found, ok := r.view.Collectors(p.Mesh).Find(&conf.CollectorRef{Name: &name})
	if ok {
		delete(ref, "name")
		ref["labels"] = nameLabels(&found.Backend.Meta)
		d.edited(path)
	}
	r.find(diag.ReferenceNotInKuma3, pos, path, hintOf(ok, "refer to a MeshOpenTelemetryBackend of the mesh by its labels"),
		"Kuma 3 finds a MeshOpenTelemetryBackend by labels alone: nothing is sent")
}
