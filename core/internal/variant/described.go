package variant

import (
	"strings"

	"github.com/meshmatch/meshmatch/core/internal/enforce"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/internal/partition"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
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

// required returns a predicate of the parameters of SPEC 12.4. It accepts the dataplanes
// with one inbound that have all facts that a policy requires by a semantics.
func required(by semantics.Semantics, p *resource.Policy) partition.Predicate {
	facts, _ := by.AppendRequired(nil, p)
	members := make([]partition.Predicate, len(facts))
	for i := range facts {
		members[i] = holds(&facts[i])
	}
	return partition.And(members...)
}

// holds returns the predicate of one fact. A dataplane with an inbound is never a gateway.
func holds(f *semantics.Fact) partition.Predicate {
	const labelledName = labelPrefix + resource.DisplayNameLabel
	switch f.Space {
	case semantics.TagPair:
		return partition.Equal(f.Key, f.Value)
	case semantics.TagKey:
		return partition.Present(f.Key)
	case semantics.LabelPair:
		return partition.Equal(labelPrefix+f.Key, f.Value)
	case semantics.Name:
		return partition.Equal(nameKey, f.Value)
	case semantics.Namespace:
		return partition.Equal(NamespaceKey, f.Value)
	case semantics.SectionName:
		return partition.Equal(sectionKey, f.Value)
	case semantics.DisplayName:
		return partition.Or(partition.Equal(labelledName, f.Value), partition.And(partition.Not(partition.Present(labelledName)), partition.Equal(nameKey, f.Value)))
	case semantics.HomeNamespace:
		return isLabelled(resource.NamespaceLabel, f.Value)
	case semantics.InZone:
		return isLabelled(resource.ZoneTag, f.Value)
	case semantics.ZoneScope:
		madeInZone := partition.Equal(labelPrefix+resource.OriginLabel, "zone")
		return partition.Or(partition.Not(madeInZone), isLabelled(resource.ZoneTag, ""), isLabelled(resource.ZoneTag, f.Value))
	case semantics.NotBuiltin, semantics.Serves:
		return partition.True()
	case semantics.ProxyType:
		if f.Value == "Sidecar" {
			return partition.True()
		}
	}
	return partition.False()
}

// isLabelled returns the predicate of a label with a value. A label that is absent has the
// empty value.
func isLabelled(key, value string) partition.Predicate {
	has := partition.Equal(labelPrefix+key, value)
	if value != "" {
		return has
	}
	return partition.Or(has, partition.Not(partition.Present(labelPrefix+key)))
}

// enforcedFor returns the predicate of the parameters for which a policy is enforced:
// it selects them and, if it has the shadow label, a placement that overrides it contains
// them. A policy that is attached to a route is selected with the route.
func enforcedFor(by semantics.Semantics, p *resource.Policy, s *enforce.Hub) partition.Predicate {
	selected := required(by, p)
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
func inPlacement(mesh string, c *enforce.Membership) partition.Predicate {
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
func hasLabel(r *ocm.Requirement) partition.Predicate {
	key := labelPrefix + r.Key
	switch r.Operator {
	case ocm.Exists:
		return partition.Present(key)
	case ocm.DoesNotExist:
		return partition.Not(partition.Present(key))
	}
	var values []partition.Predicate
	for _, v := range r.Values {
		values = append(values, partition.Equal(key, v))
	}
	if r.Operator == ocm.NotIn {
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
