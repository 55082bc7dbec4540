package variant

import (
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/meshmatch/meshmatch/core/enforce"
	"github.com/meshmatch/meshmatch/core/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/partition"
	"github.com/meshmatch/meshmatch/core/resource"
)

// NamespaceKey is the key of the parameter for the namespace of a dataplane.
const NamespaceKey = "@namespace"

// Other keys of the parameters that describe a dataplane with one inbound (SPEC 12.4), in
// addition to the keys of the inbound's tags. A tag key has no @.
const (
	labelPrefix = "@label/"
	nameKey     = "@name"
	sectionKey  = "@section"
)

// ParametersOf returns the parameters that describe a dataplane with the inbound of the
// given index (SPEC 12.4). If the index is out of range, they describe it without an
// inbound.
func ParametersOf(d *resource.Dataplane, inbound int) Parameters {
	p := Parameters{nameKey: d.Name}
	if d.Namespace != "" {
		p[NamespaceKey] = d.Namespace
	}
	for _, label := range d.Labels {
		p[labelPrefix+label.Key] = label.Value
	}
	if inbound >= 0 && inbound < len(d.Inbounds) {
		in := &d.Inbounds[inbound]
		p[sectionKey] = in.SectionName()
		for _, tag := range in.Tags {
			p[tag.Key] = tag.Value
		}
	}
	return p
}

// DataplaneOf returns the dataplane with one inbound that the parameters describe. It is
// the inverse of [ParametersOf]; it ignores other keys with an @.
func DataplaneOf(mesh string, p Parameters) *resource.Dataplane {
	labels, tags := map[string]string{}, map[string]string{}
	for key, value := range p {
		switch label, isLabel := strings.CutPrefix(key, labelPrefix); {
		case isLabel:
			labels[label] = value
		case !strings.HasPrefix(key, "@"):
			tags[key] = value
		}
	}
	return &resource.Dataplane{
		Meta: resource.Meta{
			ID:     resource.ID{Kind: resource.DataplaneKind, Mesh: mesh, Namespace: p[NamespaceKey], Name: p[nameKey]},
			Labels: resource.NewTags(labels),
		},
		Inbounds: []resource.Inbound{{Name: p[sectionKey], Tags: resource.NewTags(tags)}},
	}
}

// LabelKey returns the key of the parameter that is a label of the dataplane.
func LabelKey(label string) string { return labelPrefix + label }

// InZone returns the constraint that accepts the dataplanes in a zone: by the label or,
// without the label, by the tag (SPEC 8.5).
func InZone(zone string) Constraint {
	const labelled = labelPrefix + resource.ZoneTag
	return Or(Equals(labelled, zone), And(Not(Exists(labelled)), Equals(resource.ZoneTag, zone)))
}

// selects returns the predicate of a top-level targetRef over the parameters of SPEC
// 12.4. It accepts the dataplanes with one inbound that the targetRef selects; they are
// never gateways. A targetRef of a route kind selects the same dataplanes as the route,
// which is unknown here; the result is false.
func selects(t *resource.TargetRef) partition.Predicate {
	if t.Kind.IsRoute() || t.Kind == resource.TargetMeshGateway || !t.ProxyTypes.Admits(resource.Sidecar) {
		return partition.False()
	}
	var members []partition.Predicate
	for _, tag := range t.Selector() {
		if tag.Value == resource.AnyValue {
			members = append(members, partition.Present(tag.Key))
		} else {
			members = append(members, partition.Equal(tag.Key, tag.Value))
		}
	}
	for _, label := range t.Labels {
		members = append(members, partition.Equal(labelPrefix+label.Key, label.Value))
	}
	if t.Kind == resource.TargetDataplane && t.Name != "" {
		members = append(members, partition.Equal(nameKey, t.Name))
	}
	if t.Namespace != "" {
		members = append(members, partition.Equal(NamespaceKey, t.Namespace))
	}
	if t.SectionName != "" {
		members = append(members, partition.Equal(sectionKey, t.SectionName))
	}
	return partition.And(members...)
}

// enforcedFor returns the predicate of the parameters for which a policy is enforced:
// its targetRef selects them and, if it has the shadow label, a placement that overrides
// it contains them. A policy that is attached to a route is selected with the route.
func enforcedFor(p *resource.Policy, s *enforce.State) partition.Predicate {
	selected := partition.True()
	if !p.TargetRef.Kind.IsRoute() {
		selected = selects(&p.TargetRef)
	}
	if !p.Shadow() {
		return selected
	}
	var placements []partition.Predicate
	for _, placement := range s.Overrides(&p.ID) {
		if condition, any := s.Condition(placement); any {
			placements = append(placements, inPlacement(p.Mesh, &condition))
		}
	}
	return partition.And(selected, partition.Or(placements...))
}

// inPlacement returns the predicate of the parameters of the dataplanes of a mesh in a
// placement. The zone comes from the label or, without the label, from the tag (SPEC 8.5).
func inPlacement(mesh string, c *enforce.Condition) partition.Predicate {
	var zones []partition.Predicate
	if c.Every {
		const labelled = labelPrefix + resource.ZoneTag
		zones = append(zones,
			partition.And(partition.Present(labelled), partition.Not(partition.Equal(labelled, ""))),
			partition.And(partition.Not(partition.Present(labelled)), partition.Present(resource.ZoneTag)),
		)
	}
	for _, zone := range c.Zones {
		zones = append(zones, InZone(zone).predicate)
	}
	var members []partition.Predicate
	if !c.Anywhere {
		members = append(members, partition.Or(zones...))
	}
	if c.Dataplanes != nil {
		members = append(members, isNamed(mesh, c.Dataplanes))
	}
	for _, r := range c.Labels {
		members = append(members, hasLabel(&r))
	}
	return partition.And(members...)
}

// isNamed returns the predicate of the parameters of some dataplanes of a mesh.
func isNamed(mesh string, names []ocm.DataplaneName) partition.Predicate {
	var named []partition.Predicate
	for _, n := range names {
		if n.Mesh != mesh {
			continue
		}
		inNamespace := partition.Not(partition.Present(NamespaceKey))
		if n.Namespace != "" {
			inNamespace = partition.Equal(NamespaceKey, n.Namespace)
		}
		named = append(named, partition.And(partition.Equal(nameKey, n.Name), inNamespace))
	}
	return partition.Or(named...)
}

// hasLabel returns the predicate of a requirement on labels.
func hasLabel(r *labels.Requirement) partition.Predicate {
	key := labelPrefix + r.Key()
	switch r.Operator() {
	case selection.Exists:
		return partition.Present(key)
	case selection.DoesNotExist:
		return partition.Not(partition.Present(key))
	}
	var values []partition.Predicate
	for _, v := range r.Values().List() {
		values = append(values, partition.Equal(key, v))
	}
	if r.Operator() == selection.NotIn || r.Operator() == selection.NotEquals {
		return partition.Not(partition.Or(values...))
	}
	return partition.Or(values...)
}

// A Destination is the destination of outbounds in one mesh. It is identified by the tags
// of the outbounds (SPEC 11.4).
type Destination struct {
	Mesh string
	Tags resource.Tags // with the tag kuma.io/service
}

// ParseDestination parses the name of a destination in a mesh: SERVICE, or
// SERVICE?key=value&key=value for outbounds with more tags.
func ParseDestination(mesh, text string) (Destination, bool) {
	service, rest, more := strings.Cut(text, "?")
	tags := map[string]string{resource.ServiceTag: service}
	for more {
		var pair string
		pair, rest, more = strings.Cut(rest, "&")
		key, value, ok := strings.Cut(pair, "=")
		if _, twice := tags[key]; !ok || key == "" || twice {
			return Destination{}, false
		}
		tags[key] = value
	}
	return Destination{mesh, resource.NewTags(tags)}, service != ""
}

// Name returns the name of the destination's resources: MESH/SERVICE or, with more tags,
// MESH/SERVICE?key=value&key=value, sorted (SPEC 11.4).
func (d Destination) Name() string { return d.Mesh + "/" + d.String() }

// String returns the name without the mesh, which [ParseDestination] can parse.
func (d Destination) String() string {
	var b strings.Builder
	b.WriteString(d.Tags.Value(resource.ServiceTag))
	separator := byte('?')
	for _, tag := range d.Tags {
		if tag.Key != resource.ServiceTag {
			b.WriteByte(separator)
			b.WriteString(tag.Key + "=" + tag.Value)
			separator = '&'
		}
	}
	return b.String()
}
