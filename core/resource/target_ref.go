package resource

import (
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/specs"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// TargetRef selects objects of a mesh (SPEC 2). The kind determines which
// fields are set. See [TargetRef.Selector] for the tags that it requires.
type TargetRef struct {
	Kind        TargetKind
	Name        string // of the object or service; empty for Mesh and MeshSubset
	Namespace   string // of a named object; empty: any namespace
	Tags        Tags   // of MeshSubset, MeshServiceSubset and gateways
	Labels      Tags   // of Dataplane and, in `to`, of destinations and routes
	SectionName string // of Dataplane: the name or port of an inbound; in `to`: of a destination's port
	ProxyTypes  ProxyTypes
}

// Selector returns the tags that a single inbound or gateway must have: the
// tags of the targetRef and, for the kinds that name a service, the service
// tag. It is empty for kinds that select without tags.
func (t *TargetRef) Selector() Tags {
	if t.Kind == TargetMeshSubset {
		return t.Tags
	}
	var tags Tags
	for tag := range t.SelectorTags {
		tags = append(slices.Grow(tags, len(t.Tags)+1), tag)
	}
	slices.SortStableFunc(tags, func(a, b Tag) int { return strings.Compare(a.Key, b.Key) })
	return tags
}

// SelectorTags yields the tags of [TargetRef.Selector] in any order. If the tags
// require a service that differs from the name, it yields both tags, and no inbound
// has both.
func (t *TargetRef) SelectorTags(yield func(Tag) bool) {
	named := false
	switch t.Kind {
	case TargetMeshService, TargetMeshServiceSubset, TargetMeshGateway:
		named = true
	case TargetMeshSubset:
	default:
		return
	}
	for _, tag := range t.Tags {
		if !yield(tag) {
			return
		}
	}
	if named {
		yield(Tag{Key: ServiceTag, Value: t.Name})
	}
}

// includesGateways reports whether a policy with that top-level targetRef is also a policy
// for gateways. TargetRefs of a service or of single dataplanes are not.
func (t *TargetRef) includesGateways() bool {
	switch t.Kind {
	case TargetMesh, TargetMeshSubset:
		return t.ProxyTypes.Admits(Gateway)
	}
	return t.Kind == TargetMeshGateway || t.Kind == TargetMeshHTTPRoute
}

// ProxyTypes is a set of proxy types; the empty set means both.
type ProxyTypes uint8

// The proxy types. A dataplane with a gateway is a Gateway; every other
// dataplane is a Sidecar.
const (
	Sidecar ProxyTypes = 1 << iota
	Gateway
)

// words returns the proxy types in their written form.
func (p ProxyTypes) words() []string {
	var words []string
	if p&Gateway != 0 {
		words = append(words, "Gateway")
	}
	if p&Sidecar != 0 {
		words = append(words, "Sidecar")
	}
	return words
}

// Admits reports whether a dataplane of that type is selected.
func (p ProxyTypes) Admits(t ProxyTypes) bool { return p == 0 || p&t != 0 }

type proxyTypeWord string

func (proxyTypeWord) Enum() []string { return []string{"Sidecar", "Gateway"} }

// targetRefDoc is a targetRef in a document.
type targetRefDoc struct {
	Kind        *string         `json:"kind,omitzero"`
	Name        *string         `json:"name,omitzero"`
	Namespace   *string         `json:"namespace,omitzero"`
	Mesh        *string         `json:"mesh,omitzero"`
	Tags        docTags         `json:"tags,omitzero"`
	Labels      docTags         `json:"labels,omitzero"`
	SectionName *string         `json:"sectionName,omitzero"`
	ProxyTypes  []proxyTypeWord `json:"proxyTypes,omitzero"`
}

// docTags are tags in a document. They are nil only if they are absent.
type docTags Tags

// SetEntries sets the tags to the entries of a mapping in a file.
func (t *docTags) SetEntries(entries []strict.Entry) {
	if (*Tags)(t).SetEntries(entries); *t == nil {
		*t = docTags{}
	}
}

// MarshalJSON prints an object with sorted keys.
func (t docTags) MarshalJSON() ([]byte, error) { return Tags(t).MarshalJSON() }

// tags returns the tags of a targetRef, which are nil if there are none.
func (t docTags) tags() Tags {
	if len(t) == 0 {
		return nil
	}
	return Tags(t)
}

// doc returns the targetRef in its document form. It shares the texts and tags of t.
func (t *TargetRef) doc() targetRefDoc {
	doc := targetRefDoc{Kind: t.Kind.word(), Tags: docTags(t.Tags), Labels: docTags(t.Labels)}
	doc.Name, doc.Namespace, doc.SectionName = present(&t.Name), present(&t.Namespace), present(&t.SectionName)
	for _, word := range t.ProxyTypes.words() {
		doc.ProxyTypes = append(doc.ProxyTypes, proxyTypeWord(word))
	}
	return doc
}

// present returns the text, or nil if it is empty.
func present(text *string) *string {
	if *text == "" {
		return nil
	}
	return text
}

// targetPlace is the place of a targetRef.
type targetPlace struct {
	allowed TargetKinds
	top     bool
	mesh    string // of the policy
	kind    *Kind
	array   string // of the item; empty at the top
}

func (k *Kind) topPlace(mesh string) targetPlace {
	return targetPlace{allowed: k.Top, top: true, mesh: mesh, kind: k}
}

func (k *Kind) itemPlace(array string, section *Section, mesh string) targetPlace {
	return targetPlace{allowed: section.Targets, mesh: mesh, kind: k, array: array}
}

// subject returns the subject of messages.
func (p *targetPlace) subject() string {
	if p.top {
		return "a top-level targetRef of " + p.kind.Name
	}
	return "a targetRef in " + p.array + " of " + p.kind.Name
}

// decodeTargetRef reads the targetRef of the mapping at a place. An absent or
// empty targetRef means Mesh (SPEC 2.3).
func decodeTargetRef(around *diag.At, in *strict.Value, place targetPlace) TargetRef {
	if in == nil {
		c := targetCheck{at: around.Field("targetRef"), place: place}
		return c.ref()
	}
	c := targetCheck{at: in.At(), place: place}
	strict.DecodeChecked(in, &c.doc, func() { c.result = c.ref() })
	return c.result
}

func (d *targetRefDoc) empty() bool {
	return d.Kind == nil && d.Name == nil && d.Namespace == nil && d.Mesh == nil && d.Tags == nil && d.Labels == nil && d.SectionName == nil && d.ProxyTypes == nil
}

func oneOf(kinds TargetKinds) string { return "one of " + kinds.String() }

// targetCheck validates the fields of one targetRef.
type targetCheck struct {
	at    *diag.At
	doc   targetRefDoc
	place targetPlace
	// result is here, and not in a variable, so that a targetRef is one allocation.
	result TargetRef
}

func (c *targetCheck) ref() TargetRef {
	word := "Mesh"
	switch {
	case c.doc.Kind != nil:
		word = *c.doc.Kind
	case !c.doc.empty():
		c.errorf(diag.MissingField, "kind", oneOf(c.place.allowed), "required field is missing")
		return TargetRef{}
	}
	kind, known := ParseTargetKind(word)
	switch {
	case word == MeshGatewayRouteKind:
		c.errorf(diag.TargetNotAllowed, "kind", "use MeshGateway for the dataplanes of a gateway, or attach the policy to a MeshHTTPRoute",
			"%s cannot be MeshGatewayRoute, because no resource of a proxy is made for its routes alone", c.place.subject())
	case !known:
		c.errorf(diag.UnknownKind, "kind", diag.DidYouMean(word, c.place.allowed.Names()), "unknown kind %q", word)
	case !c.place.allowed.Has(kind):
		c.errorf(diag.TargetNotAllowed, "kind", oneOf(c.place.allowed), "%s cannot be %s", c.place.subject(), kind)
	default:
		return c.check(kind)
	}
	c.mesh() // the errors that do not depend on the kind
	specs.ValidateSelector(c.at.Field("tags"), Tags(c.doc.Tags))
	return TargetRef{}
}

func (c *targetCheck) errorf(code diag.Code, field, hint, format string, args ...any) {
	c.at.Field(field).Errorf(code, hint, format, args...)
}

// foreign reports a field that is present and does not belong to the kind.
func (c *targetCheck) foreign(field string, present bool, kind TargetKind) {
	if present {
		c.errorf(diag.FieldNotAllowed, field, "remove it", "does not belong to kind %s", kind)
	}
}

func (c *targetCheck) check(kind TargetKind) TargetRef {
	doc := &c.doc
	ref := TargetRef{Kind: kind}
	c.mesh()
	ref.Name = c.name(kind)
	if (hasNamespace(kind) || c.place.refersTo(kind)) && doc.Name != nil {
		if doc.Namespace != nil {
			ref.Namespace = *doc.Namespace
		}
	} else {
		c.foreign("namespace", doc.Namespace != nil, kind)
	}
	ref.Tags = c.tags(kind)
	c.labels(&ref)
	c.section(&ref)
	if hasProxyTypes(kind) {
		if doc.ProxyTypes != nil && !c.place.top {
			c.errorf(diag.FieldNotAllowed, "proxyTypes", "remove it", "belongs to a top-level targetRef")
		}
		for _, word := range doc.ProxyTypes {
			if word == "Gateway" {
				ref.ProxyTypes |= Gateway
			} else {
				ref.ProxyTypes |= Sidecar
			}
		}
		if doc.ProxyTypes != nil && len(doc.ProxyTypes) == 0 {
			c.errorf(diag.EmptyValue, "proxyTypes", "leave it out for both types", "must not be empty")
		}
	} else {
		c.foreign("proxyTypes", doc.ProxyTypes != nil, kind)
	}
	return ref
}

func (c *targetCheck) mesh() {
	if mesh := c.doc.Mesh; mesh != nil && *mesh != c.place.mesh {
		c.errorf(diag.WrongMesh, "mesh", "leave it out", "must be the policy's mesh %q, not %q", c.place.mesh, *mesh)
	}
}

func hasNamespace(kind TargetKind) bool {
	return kind == TargetDataplane || kind == TargetMeshGateway || kind.IsRoute()
}

func hasProxyTypes(kind TargetKind) bool { return kind == TargetMesh || kind == TargetMeshSubset }

func hasTags(kind TargetKind) bool {
	switch kind {
	case TargetMeshSubset, TargetMeshServiceSubset, TargetMeshGateway:
		return true
	}
	return false
}

// hasSection reports whether a targetRef of the kind may have a sectionName at the place.
func (p *targetPlace) hasSection(kind TargetKind) bool {
	return kind == TargetDataplane || p.refersTo(kind) && kind != TargetMeshExternalService && !kind.IsRoute()
}

// refersTo reports whether a targetRef of the kind may refer to resources at the place,
// by names, namespaces, labels and sections. Only targetRefs in `to` may (SPEC 17.3).
func (p *targetPlace) refersTo(kind TargetKind) bool {
	return p.array == "to" && (DestinationTargets.Has(kind) || kind == TargetMeshHTTPRoute)
}

func (c *targetCheck) name(kind TargetKind) string {
	doc := &c.doc
	switch {
	case kind == TargetMesh || kind == TargetMeshSubset:
		if doc.Name != nil && *doc.Name != c.place.mesh {
			c.errorf(diag.WrongMesh, "name", "leave it out", "must be the policy's mesh %q, not %q", c.place.mesh, *doc.Name)
		}
		return ""
	case doc.Name == nil:
		switch {
		case c.place.refersTo(kind):
			if len(doc.Labels) == 0 {
				c.errorf(diag.MissingField, "name", "or give labels", "required field is missing for kind %s", kind)
			}
		case kind != TargetDataplane:
			c.errorf(diag.MissingField, "name", "", "required field is missing for kind %s", kind)
		}
		return ""
	case *doc.Name == "":
		c.errorf(diag.EmptyValue, "name", "", "must not be empty")
	case kind != TargetMeshService && kind != TargetMeshServiceSubset && kind != TargetMeshGateway:
	case *doc.Name == specs.AnyValue:
		c.errorf(diag.BadTag, "name", "kind Mesh selects every service", "bad service name %q", *doc.Name)
	default:
		conf.ValidateService(c.at.Field("name"), *doc.Name)
	}
	return *doc.Name
}

func (c *targetCheck) tags(kind TargetKind) Tags {
	doc := &c.doc
	if !hasTags(kind) {
		c.foreign("tags", doc.Tags != nil, kind)
		return nil
	}
	if kind == TargetMeshServiceSubset && len(doc.Tags) == 0 {
		c.errorf(diag.MissingField, "tags", "", "required field is missing for kind %s", kind)
	}
	if kind == TargetMeshGateway {
		specs.ValidateListenerTags(c.at.Field("tags"), Tags(doc.Tags))
	} else {
		specs.ValidateSelector(c.at.Field("tags"), Tags(doc.Tags))
	}
	return doc.Tags.tags()
}

// labels checks the labels, which replace a name.
func (c *targetCheck) labels(ref *TargetRef) {
	doc := &c.doc
	if ref.Kind != TargetDataplane && !c.place.refersTo(ref.Kind) {
		c.foreign("labels", doc.Labels != nil, ref.Kind)
		return
	}
	if doc.Labels != nil && doc.Name != nil {
		c.errorf(diag.BothPresent, "labels", "use one of them", "a %s is selected by name or by labels, not by both", ref.Kind)
	}
	ref.Labels = doc.Labels.tags()
}

func (c *targetCheck) section(ref *TargetRef) {
	doc := &c.doc
	if !c.place.hasSection(ref.Kind) {
		c.foreign("sectionName", doc.SectionName != nil, ref.Kind)
		return
	}
	if doc.SectionName == nil {
		return
	}
	if *doc.SectionName == "" {
		c.errorf(diag.EmptyValue, "sectionName", "leave it out for all "+sectionsOf(ref.Kind), "must not be empty")
	}
	ref.SectionName = *doc.SectionName
}

func sectionsOf(kind TargetKind) string {
	if kind == TargetDataplane {
		return "inbounds"
	}
	return "ports"
}
