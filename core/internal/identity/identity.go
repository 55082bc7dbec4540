package identity

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/template"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Identity is the result of a MeshIdentity for one dataplane.
type Identity struct {
	// SPIFFEID is spiffe://TRUSTDOMAIN/PATH.
	SPIFFEID    string
	TrustDomain string
	// Source is the MeshIdentity.
	Source *resource.MeshIdentity
}

// Identities are the MeshIdentities of any number of meshes, ready to be
// evaluated. The zero value and nil contain none: no dataplane has an identity.
type Identities struct {
	all      []*resource.MeshIdentity
	byMesh   map[string][]entry
	domains  map[*resource.MeshIdentity]string // see TrustDomain
	defaults Defaults
}

// Defaults are the templates of a MeshIdentity that lacks them.
type Defaults uint8

// The defaults (SPEC 11.6, 17.4). A dataplane with a namespace and a service account has the
// path /ns/NAMESPACE/sa/ACCOUNT.
const (
	ByMesh Defaults = iota // MESH.mesh.local, and the path /dataplane/NAME
	// ByZone is Kuma's: MESH.ZONE.mesh.local for a dataplane with a zone, and the path
	// /workload/WORKLOAD for one with the label kuma.io/workload. The template of a trust
	// domain gets its labels from the MeshIdentity.
	ByZone
)

// entry is a MeshIdentity with a selector.
type entry struct {
	source   *resource.MeshIdentity
	selector map[string]string
	zone     string // that of every dataplane it selects that was made in a zone; "": any
	// The parts of the templates; nil means the default.
	trustDomain, path []template.Piece
}

// New returns the identities of a list in any order. They must be valid, and the
// caller must not change them afterwards.
func New(list []*resource.MeshIdentity, defaults Defaults) *Identities {
	ids := &Identities{all: slices.Clone(list), byMesh: map[string][]entry{}, domains: map[*resource.MeshIdentity]string{}, defaults: defaults}
	slices.SortFunc(ids.all, func(a, b *resource.MeshIdentity) int { return a.ID.Compare(b.ID) })
	for _, source := range list {
		if domain, fixed := defaults.fixedTrustDomain(source); fixed {
			ids.domains[source] = domain
		}
		selector := source.Spec.Selector
		if selector == nil || selector.Dataplane == nil {
			continue // it selects no dataplane
		}
		e := entry{source: source, selector: selector.Dataplane.MatchLabels}
		if defaults == ByZone {
			e.zone = madeIn(&source.Meta)
		}
		if spiffe := source.Spec.SpiffeID; spiffe != nil {
			e.trustDomain, e.path = parts(spiffe.TrustDomain), parts(spiffe.Path)
		}
		ids.byMesh[source.Mesh] = append(ids.byMesh[source.Mesh], e)
	}
	for _, entries := range ids.byMesh {
		slices.SortFunc(entries, func(a, b entry) int {
			return cmp.Or(
				cmp.Compare(len(b.selector), len(a.selector)),
				cmp.Compare(a.source.Name, b.source.Name),
				cmp.Compare(a.source.Namespace, b.source.Namespace),
			)
		})
	}
	return ids
}

// All returns the MeshIdentities sorted by identity, including those that select
// no dataplane. The caller must not change the slice.
func (i *Identities) All() []*resource.MeshIdentity {
	if i == nil {
		return nil
	}
	return i.all
}

// A Candidate is one MeshIdentity in a list of rules: the first rule that selects a
// dataplane applies.
type Candidate struct {
	Source *resource.MeshIdentity
	// Labels are the labels that the rule requires, sorted by key.
	Labels resource.Tags
	// Zone excludes the dataplanes that were made in another zone (SPEC 17.1); "": none.
	Zone string
	// AskedLabels and AskedVariables are the keys of labels, and the variables such
	// as Namespace, to which the templates refer. A selected dataplane that lacks one
	// of them may have no identity.
	AskedLabels, AskedVariables []string
}

// Rules returns the MeshIdentities of a mesh, in the order in which [Identities.IdentityOf]
// compares them with a dataplane.
func (i *Identities) Rules(mesh string) []Candidate {
	if i == nil {
		return nil
	}
	var rules []Candidate
	for _, e := range i.byMesh[mesh] {
		r := Candidate{Source: e.source, Labels: resource.NewTags(e.selector), Zone: e.zone}
		if e.path == nil { // see Defaults.path
			r.AskedVariables = append(r.AskedVariables, "Namespace", "ServiceAccount")
		}
		labels, variables := i.defaults.askedOfDataplane(&e)
		r.AskedLabels, r.AskedVariables = append(r.AskedLabels, labels...), append(r.AskedVariables, variables...)
		for _, p := range e.path {
			switch {
			case p.Label != "":
				r.AskedLabels = append(r.AskedLabels, p.Label)
			case p.Variable != "":
				r.AskedVariables = append(r.AskedVariables, p.Variable)
			}
		}
		rules = append(rules, r)
	}
	return rules
}

// parts returns the pieces of a valid template, nil for nil.
func parts(t *template.Template) []template.Piece {
	if t == nil {
		return nil
	}
	parts, _ := t.Parts() // the template of a valid resource has no error
	return parts
}

// IdentityOf returns the identity of a dataplane, or nil if no MeshIdentity selects it. If
// several do, the one with the most labels applies; among these, the one with the
// first name. It returns an error if the dataplane lacks a label to which a template
// refers, or if its names do not make a valid SPIFFE ID.
func (i *Identities) IdentityOf(d *resource.Dataplane) (*Identity, error) {
	if i == nil {
		return nil, nil
	}
	for _, e := range i.byMesh[d.Mesh] {
		if !e.selects(d) {
			continue
		}
		trustDomain, err := i.defaults.trustDomain(&e, d)
		if err != nil {
			return nil, fmt.Errorf("%s: spec.spiffeID.trustDomain: %w", e.source.ID, err)
		}
		path, err := expand(e.path, d)
		if err != nil {
			return nil, fmt.Errorf("%s: spec.spiffeID.path: %w", e.source.ID, err)
		}
		if e.path == nil {
			path = i.defaults.path(d)
		}
		id := "spiffe://" + trustDomain + path
		if err := conf.CheckSpiffeID(id); err != nil {
			return nil, fmt.Errorf("%s: %q is not a SPIFFE ID: %w", e.source.ID, id, err)
		}
		return &Identity{SPIFFEID: id, TrustDomain: trustDomain, Source: e.source}, nil
	}
	return nil, nil
}

// TrustDomain returns the trust domain of all SPIFFE IDs of a MeshIdentity of the list, or
// false if it depends on the dataplane.
func (i *Identities) TrustDomain(source *resource.MeshIdentity) (string, bool) {
	domain, fixed := i.domains[source]
	return domain, fixed
}

func (s Defaults) fixedTrustDomain(source *resource.MeshIdentity) (string, bool) {
	e := entry{source: source}
	if source.Spec.SpiffeID != nil {
		e.trustDomain = parts(source.Spec.SpiffeID.TrustDomain)
	}
	if labels, variables := s.askedOfDataplane(&e); len(labels) > 0 || slices.ContainsFunc(variables, func(v string) bool { return v != "Mesh" }) {
		return "", false
	}
	domain, err := s.trustDomain(&e, &resource.Dataplane{Meta: resource.Meta{ID: resource.ID{Mesh: source.Mesh}}})
	return domain, err == nil
}

// trustDomain returns the trust domain of a dataplane that a MeshIdentity selects. Kuma
// computes it for the MeshIdentity: with its labels, and with its zone if it was made in one,
// else with the zone of the control plane, which the dataplane has too.
func (s Defaults) trustDomain(e *entry, d *resource.Dataplane) (string, error) {
	if s == ByMesh {
		if e.trustDomain == nil {
			return d.Mesh + ".mesh.local", nil
		}
		return expand(e.trustDomain, d)
	}
	zone := cmp.Or(e.source.Zone(), d.Zone())
	switch {
	case e.trustDomain == nil && zone == "":
		return d.Mesh + ".mesh.local", nil
	case e.trustDomain == nil:
		return d.Mesh + "." + zone + ".mesh.local", nil
	}
	return fill(e.trustDomain, func(p template.Piece) (string, error) {
		switch {
		case p.Label != "":
			return labelOf(e.source.Labels, p.Label, "the MeshIdentity")
		case p.Variable == "Zone":
			return zone, nil
		}
		return variable(p.Variable, d), nil
	})
}

// askedOfDataplane returns the labels and the variables of a dataplane to which the trust
// domain of a MeshIdentity refers.
func (s Defaults) askedOfDataplane(e *entry) (labels, variables []string) {
	ofSource := func(variable string) bool { return s == ByZone && variable == "Zone" && e.source.Zone() != "" }
	if e.trustDomain == nil && s == ByZone && !ofSource("Zone") {
		return nil, []string{"Zone"}
	}
	for _, p := range e.trustDomain {
		switch {
		case p.Label != "" && s == ByMesh:
			labels = append(labels, p.Label)
		case p.Variable != "" && !ofSource(p.Variable):
			variables = append(variables, p.Variable)
		}
	}
	return labels, variables
}

// madeIn returns the zone in which a resource was made, or "" if its labels name none.
func madeIn(m *resource.Meta) string {
	if m.Origin() != resource.ZoneOrigin {
		return ""
	}
	return m.Zone()
}

// selects compares the zones too: Kuma sends the MeshIdentity of a zone to its global control
// plane, but to no other zone.
func (e *entry) selects(d *resource.Dataplane) bool {
	if e.zone != "" {
		if made := madeIn(&d.Meta); made != "" && made != e.zone {
			return false
		}
	}
	for key, want := range e.selector {
		if value, present := d.Labels.Get(key); !present || value != want {
			return false
		}
	}
	return true
}

func (s Defaults) path(d *resource.Dataplane) string {
	if account, namespace := serviceAccount(d), namespaceOf(d); namespace != "" && account != "" {
		return "/ns/" + namespace + "/sa/" + account
	}
	if workload := d.Labels.Value(resource.WorkloadLabel); s == ByZone && workload != "" {
		return "/workload/" + workload
	}
	return "/dataplane/" + d.Name
}

// namespaceOf returns the namespace where a dataplane was made. A global control plane stores
// the dataplanes of its zones in a namespace of its own (SPEC 17.2).
func namespaceOf(d *resource.Dataplane) string {
	return cmp.Or(d.Labels.Value(resource.NamespaceLabel), d.Namespace)
}

func serviceAccount(d *resource.Dataplane) string {
	return d.Labels.Value(resource.ServiceAccountLabel)
}

// Expand returns a template's text for a dataplane. The template must be valid. It
// returns an error if the dataplane lacks a label.
func Expand(t template.Template, d *resource.Dataplane) (string, error) {
	pieces, err := t.Parts()
	if err != nil {
		return "", err
	}
	return expand(pieces, d)
}

func expand(pieces []template.Piece, d *resource.Dataplane) (string, error) {
	return fill(pieces, func(p template.Piece) (string, error) {
		if p.Label != "" {
			return labelOf(d.Labels, p.Label, d.ID)
		}
		return variable(p.Variable, d), nil
	})
}

// fill returns the text of a template. Value returns the value of a label or a variable.
func fill(pieces []template.Piece, value func(template.Piece) (string, error)) (string, error) {
	text := ""
	for _, p := range pieces {
		if p.Label == "" && p.Variable == "" {
			text += p.Text
			continue
		}
		filled, err := value(p)
		if err != nil {
			return "", err
		}
		text += filled
	}
	return text, nil
}

// labelOf returns the value of a label, or an error that names its owner.
func labelOf(labels resource.Tags, key string, owner any) (string, error) {
	value, present := labels.Get(key)
	if !present {
		return "", fmt.Errorf("%s has no label %q", owner, key)
	}
	return value, nil
}

func variable(name string, d *resource.Dataplane) string {
	switch name {
	case "Mesh":
		return d.Mesh
	case "Zone":
		return d.Zone()
	case "Namespace":
		return namespaceOf(d)
	case "Name":
		return d.Name
	case "Workload":
		return d.Labels.Value(resource.WorkloadLabel)
	}
	return serviceAccount(d)
}
