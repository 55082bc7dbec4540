package resource

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// The same code checks resources made in Go and resources from files, so both
// have the same errors with the same paths (SPEC 1.2). There are two ways. Most
// resources are turned into the document from which they would be decoded, and
// package strict validates the document. For dataplanes, the decoder calls the
// validation of the resource, which is faster, because there are many
// dataplanes.

// Place returns the place of the resource. Its Validate method gets the place
// and reports errors to sink. Messages begin with the position of the resource,
// or with its identity if it was not read from a file.
func (m *Meta) Place(sink *diag.Sink) *diag.At {
	name := diag.GoValue(m.ID.String())
	if m.Pos != (diag.Position{}) {
		name = diag.GoValue(m.Pos.String())
	}
	return diag.Root(name, sink)
}

// validate checks the identity and the labels of a resource of a kind.
func (m *Meta) validate(at *diag.At, kind string) {
	switch {
	case m.Kind == "":
		resourceKind("").Validate(at.Field("type"))
	case m.Kind != kind:
		at.Field("type").Errorf(diag.WrongType, "", "must be %s, not %q", kind, m.Kind)
	}
	if m.Name == "" {
		resourceName("").Validate(at.Field("name"))
	}
	if m.Mesh == "" {
		at.Field("mesh").Errorf(diag.EmptyValue, "the mesh of most resources is "+DefaultMesh, "a resource's mesh must not be empty")
	}
	validateText(at, "mesh", m.Mesh)
	validateText(at, "namespace", m.Namespace)
	validateText(at, "name", m.Name)
	validateWord(at, "mesh", m.Mesh)
	validateWord(at, "namespace", m.Namespace)
	validateWord(at, "name", m.Name)
	validateSorted(at, "labels", m.Labels)
	for _, label := range m.Labels {
		validateText(at, "labels", label.Key)
		validateText(at, "labels", label.Value)
	}
}

// validateText checks that a field is valid UTF-8, like the texts of files.
func validateText(at *diag.At, field, text string) {
	if !utf8.ValidString(text) {
		at.Field(field).Errorf(diag.WrongType, "", "must be UTF-8, not %q", text)
	}
}

// validateWord checks that a field has no blank and no control character: names are parts of KRIs,
// of the command line and of lines of logs.
func validateWord(at *diag.At, field, name string) {
	if !isWord(name) {
		refuseWord(at.Field(field), name)
	}
}

func refuseWord(at *diag.At, name string) {
	at.Errorf(diag.BadValue, "", "must have no blanks and no control characters, not %q", name)
}

func isWord(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
}

// validateSorted checks that tags are sorted without duplicates, like the
// result of [NewTags].
func validateSorted(at *diag.At, field string, tags Tags) {
	for i := 1; i < len(tags); i++ {
		if tags[i-1].Key >= tags[i].Key {
			at.Field(field).Errorf(diag.DuplicateEntry, "make them with resource.NewTags", "are not sorted by key, or have %q twice", tags[i].Key)
			return
		}
	}
}

// Validate reports the errors of a Mesh at its place.
func (m *Mesh) Validate(at *diag.At) {
	m.validate(at, MeshKind)
	if m.Mesh != m.Name {
		at.Field("name").Errorf(diag.WrongMesh, "", "a Mesh is in the mesh of its own name, not in %q", m.Mesh)
	}
	if m.Namespace != "" {
		at.Field("namespace").Errorf(diag.FieldNotAllowed, "remove it", "a Mesh has no namespace")
	}
	validateMeshOfKuma(at, &m.Spec)
}

// Validate reports the errors of a policy at its place.
func (p *Policy) Validate(at *diag.At) {
	if p.Type == nil {
		at.Field("type").Errorf(diag.BadResource, "set Policy.Type", "the policy has no kind")
		return
	}
	p.validate(at, p.Type.Name)
	before := at.Sink().Mark()
	spec := at.Field("spec")
	p.TargetRef.validate(spec.Field("targetRef"), p.Type.topPlace(p.Mesh))
	has := arrays{p.To != nil, p.From != nil, p.Rules != nil, p.Default != nil, p.Gateway != nil, p.hasItems()}
	has.to = has.to || has.gateway
	p.Type.checkArrays(spec, &p.TargetRef, has)
	if p.Unreadable {
		return
	}
	p.validateItems(spec, "to", p.Type.To, p.To)
	p.validateItems(spec, "to", p.Type.Gateway, p.Gateway)
	if p.Gateway != nil && (p.To != nil || !p.Type.hasListenersFor(&p.TargetRef)) {
		spec.Field("to").Errorf(diag.ArrayNotAllowed, "", "items for the listeners of gateways belong to a policy that includes gateways, of a kind that has such items, without other items in to")
	}
	p.validateItems(spec, "from", p.Type.From, p.From)
	if section := p.Type.Rules; section != nil {
		for i := range p.Rules {
			rule := spec.Field("rules").Index(i)
			strict.Validate(rule.Field("matches"), &p.Rules[i].Matches)
			if section.Conf.Validate(rule.Field("default"), p.Rules[i].Conf) {
				section.checkRule(rule, p.Type, &p.Rules[i])
			}
		}
	}
	if p.Type.Default != nil && p.Default != nil {
		p.Type.Default.Conf.Validate(spec.Field("default"), p.Default)
	}
	p.Type.checkItems(spec, has, before)
}

func (p *Policy) validateItems(spec *diag.At, name string, section *Section, items []Item) {
	if section == nil {
		return
	}
	for i := range items {
		item := spec.Field(name).Index(i)
		items[i].TargetRef.validate(item.Field("targetRef"), p.Type.itemPlace(name, section, p.Mesh))
		if !section.Inline {
			item = item.Field("default")
		}
		if section.Conf.Validate(item, items[i].Conf) {
			checkItem(item, "", &p.TargetRef, items[i].Conf)
		}
	}
}

// validate checks a targetRef that was made in Go. Unlike a targetRef from a
// file, it must have a kind, and it must have no name if it is of kind Mesh or
// MeshSubset.
func (t *TargetRef) validate(at *diag.At, place targetPlace) {
	validateSorted(at, "tags", t.Tags)
	validateSorted(at, "labels", t.Labels)
	c := targetCheck{at: at, doc: t.doc(), place: place}
	if c.doc.Kind == nil {
		at.Field("kind").Errorf(diag.MissingField, oneOf(place.allowed), "required field is missing")
		return
	}
	before := at.Sink().Mark()
	t.validateTexts(at)
	at.Sink().Check(before, func() {
		c.ref()
		if t.Name != "" && (t.Kind == TargetMesh || t.Kind == TargetMeshSubset) {
			at.Field("name").Errorf(diag.FieldNotAllowed, "leave it empty", "does not belong to kind %s", t.Kind)
		}
	})
}

// validateTexts checks that the texts are valid UTF-8.
func (t *TargetRef) validateTexts(at *diag.At) {
	validateText(at, "name", t.Name)
	validateText(at, "namespace", t.Namespace)
	validateTagTexts(at, "tags", t.Tags)
	validateTagTexts(at, "labels", t.Labels)
	validateText(at, "sectionName", t.SectionName)
}

func validateTagTexts(at *diag.At, field string, tags Tags) {
	for _, tag := range tags {
		validateText(at.Field(field), tag.Key, tag.Value)
	}
}
