package inspect

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/find"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/words"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A Resource is one line of a list of resources.
type Resource struct {
	*resource.Meta
	// Summary depends on the kind: the targetRef of a policy, the inbounds of a
	// dataplane, the ports of a destination.
	Summary string
	// Source is the original document as JSON.
	Source json.RawMessage

	tags []resource.Tags // of each inbound, or of the gateway
}

// ResourceQuery selects resources.
type ResourceQuery struct {
	Kind      string    // "": every kind
	Name      find.Name // Name.Name may be empty
	Mesh      string    // "": every mesh; resources without a mesh are in every mesh
	Selection find.Selection
	OfCluster bool // with a namespace, also what has none
}

// NewResources returns the resources of a set that a query selects, sorted by kind and
// identity. The set must have been read with [resource.Loader.KeepSources]. The error is
// [find.ErrNotFound] if no resource has the name in the query, or [find.ErrUsage].
func NewResources(set *resource.Set, q ResourceQuery) ([]Resource, error) {
	name, namespace, err := q.Name.Split(cmp.Or(q.Kind, "resource"))
	if err != nil {
		return nil, err
	}
	var names []string
	out := []Resource{}
	for _, r := range resources(set) {
		switch {
		case q.Kind != "" && r.Kind != q.Kind,
			q.Mesh != "" && r.Mesh != "" && r.Mesh != q.Mesh,
			namespace != nil && *namespace != r.Namespace && (r.Namespace != "" || !q.OfCluster):
			continue
		}
		names = append(names, r.Name)
		if name != "" && name != r.Name && name != r.DisplayName() || !r.selectedBy(q.Selection) {
			continue
		}
		r.Source = set.Sources[r.Pos]
		out = append(out, r)
	}
	if name != "" && len(out) == 0 {
		return nil, find.NotFound(fmt.Sprintf("there is no %s %q", q.Kind, name), name, names)
	}
	slices.SortStableFunc(out, func(a, b Resource) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), a.ID.Compare(b.ID))
	})
	return out, nil
}

// Stored returns the time at which a control plane stored the resource; zero if its document has
// none, or was not kept.
func (r *Resource) Stored() time.Time {
	var document struct {
		CreationTime time.Time `json:"creationTime"`
		Metadata     struct {
			CreationTimestamp time.Time `json:"creationTimestamp"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(r.Source, &document); err != nil {
		return time.Time{}
	}
	if !document.CreationTime.IsZero() {
		return document.CreationTime
	}
	return document.Metadata.CreationTimestamp
}

func (r *Resource) selectedBy(s find.Selection) bool {
	return s.Selects(r.Labels) || slices.ContainsFunc(r.tags, func(tags resource.Tags) bool { return s.Selects(r.Labels, tags) })
}

// resources returns every resource of a set.
func resources(set *resource.Set) []Resource {
	return slices.Concat(
		lists.Map(set.Meshes, func(m *resource.Mesh) Resource { return Resource{Meta: &m.Meta} }),
		lists.Map(set.Dataplanes, func(d *resource.Dataplane) Resource {
			return Resource{Meta: &d.Meta, Summary: dataplaneSummary(d), tags: find.ClientTags(d)}
		}),
		lists.Map(set.Policies, func(p *resource.Policy) Resource { return Resource{Meta: &p.Meta, Summary: PolicySummary(p)} }),
		lists.Map(set.Objects, func(o resource.Object) Resource { return Resource{Meta: o.Identity(), Summary: objectSummary(o)} }),
		lists.Map(set.Documents, func(d *resource.Document) Resource { return Resource{Meta: &d.Meta} }),
	)
}

// dataplaneSummary returns the address with the inbounds (name, port and service), and with
// the listeners of a zone proxy.
func dataplaneSummary(d *resource.Dataplane) string {
	ports := lists.MapPointers(d.Inbounds, func(in *resource.Inbound) string {
		port := words.Port(in.Port)
		if in.Name != "" {
			port = in.Name + ":" + port
		}
		if service := in.Tags.Value(resource.ServiceTag); service != "" {
			port += " " + service
		}
		return port
	})
	ports = append(ports, lists.MapPointers(d.Listeners, func(l *resource.Listener) string {
		return strings.TrimSpace(l.Type() + " " + strings.TrimPrefix(l.Name+":"+words.Port(l.Port), ":"))
	})...)
	if d.Gateway != nil {
		ports = append(ports, strings.TrimSpace("gateway "+d.Gateway.Tags.Value(resource.ServiceTag)))
	}
	return strings.TrimSpace(d.Address + " " + strings.Join(ports, ", "))
}

// PolicySummary returns the targetRef, the number of items, and whether the policy only
// informs.
func PolicySummary(p *resource.Policy) string {
	parts := []string{describeTarget(&p.TargetRef)}
	for _, array := range []struct {
		name string
		n    int
	}{{"to", len(p.To) + len(p.Gateway)}, {"from", len(p.From)}, {"rules", len(p.Rules)}} {
		if array.n > 0 {
			parts = append(parts, fmt.Sprintf("%s[%d]", array.name, array.n))
		}
	}
	if p.Shadow() {
		parts = append(parts, resource.EffectLabel+"=shadow")
	}
	return strings.Join(parts, ", ")
}

// describeTarget returns a targetRef in short form: its kind, its name and its
// requirements.
func describeTarget(t *resource.TargetRef) string {
	text := t.Kind.String()
	if t.Name != "" {
		text += " " + t.Name
	}
	for _, required := range []resource.Tags{t.Tags, t.Labels} {
		if len(required) > 0 {
			text += " " + required.String()
		}
	}
	if t.SectionName != "" {
		text += " " + t.SectionName
	}
	return text
}

// objectSummary returns the ports of a destination.
func objectSummary(o resource.Object) string {
	destination, ok := o.(resource.Destination)
	if !ok {
		return ""
	}
	return strings.Join(lists.Map(destination.Ports(), func(port resource.DestinationPort) string {
		return strings.TrimSpace(fmt.Sprintf("%d %s", port.Number, port.Protocol))
	}), ", ")
}
