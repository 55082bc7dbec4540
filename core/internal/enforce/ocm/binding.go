package ocm

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
	"github.com/meshmatch/meshmatch/core/resource"
)

// The API groups of the resources to which a binding refers.
const (
	policyGroup    = "policy.open-cluster-management.io"
	placementGroup = "cluster.open-cluster-management.io"
	ruleGroup      = "apps.open-cluster-management.io"
	meshGroup      = "kuma.io"
)

//confgen:schema
type bindingDoc struct {
	PlacementRef placementRefDoc `json:"placementRef"`
	Subjects     []subjectDoc    `json:"subjects"`

	// RemediationActionOverride is the form of proposal 003.
	RemediationActionOverride *overrideDoc `json:"remediationActionOverride,omitzero"`
	// BindingOverrides is the released form.
	BindingOverrides *bindingOverridesDoc `json:"bindingOverrides,omitzero"`
	SubFilter        *subFilterWord       `json:"subFilter,omitzero"`
}

// Validate checks that only one form of the override is used.
func (d *bindingDoc) Validate(at *diag.At) {
	if len(d.Subjects) == 0 {
		at.Field("subjects").Errorf(diag.MissingField, "", "must have at least one subject")
	}
	if d.RemediationActionOverride == nil {
		return
	}
	if d.BindingOverrides != nil {
		at.Field("bindingOverrides").Errorf(diag.BothPresent, "use one of them", "remediationActionOverride and bindingOverrides are both present")
	}
	if d.SubFilter != nil {
		at.Field("subFilter").Errorf(diag.FieldNotAllowed, "use remediationActionOverride.subFilter, or bindingOverrides", "is not allowed with remediationActionOverride")
	}
}

func (d *bindingDoc) resource(meta *resource.Meta) Resource {
	b := &PlacementBinding{Meta: *meta, Placement: d.PlacementRef.ref, SubFilter: d.SubFilter != nil}
	if o := d.RemediationActionOverride; o != nil {
		b.Enforce, b.SubFilter = o.enforce, o.SubFilter
	}
	if o := d.BindingOverrides; o != nil {
		b.Enforce = o.enforce
	}
	for i := range d.Subjects {
		b.Subjects = append(b.Subjects, d.Subjects[i].subject)
	}
	return b
}

type overrideDoc struct {
	RemediationAction *strict.Value `json:"remediationAction,omitzero"`
	SubFilter         bool          `json:"subFilter,omitzero"`
	enforce           bool
}

// Validate reads the action, which may be null.
func (d *overrideDoc) Validate(*diag.At) { d.enforce = enforces(d.RemediationAction) }

type bindingOverridesDoc struct {
	RemediationAction *strict.Value `json:"remediationAction,omitzero"`
	enforce           bool
}

// Validate reads the action, which may be null.
func (d *bindingOverridesDoc) Validate(*diag.At) { d.enforce = enforces(d.RemediationAction) }

// enforces reads an override: enforce, or null for none.
func enforces(in *strict.Value) bool {
	if in == nil || in.IsNull() {
		return false
	}
	var word actionWord
	if strict.Decode(in, &word) && Action(word) != Enforce {
		in.At().Errorf(diag.UnknownValue, "write enforce, or remove the field", "a binding cannot override an action with %q", in.Text())
	}
	return Action(word) == Enforce
}

type subFilterWord string

// Enum returns the values of subFilter.
func (subFilterWord) Enum() []string { return []string{"restricted"} }

type placementRefDoc struct {
	APIGroup placementAPIGroup `json:"apiGroup"`
	Kind     placementKind     `json:"kind"`
	Name     objectName        `json:"name"`
	ref      Ref
}

//confgen:openapi {"enum": ["apps.open-cluster-management.io", "cluster.open-cluster-management.io"]}
type placementAPIGroup string

// Enum returns the groups of placements.
func (placementAPIGroup) Enum() []string { return []string{ruleGroup, placementGroup} }

//confgen:openapi {"enum": ["PlacementRule", "Placement"]}
type placementKind string

// Enum returns the kinds of placements.
func (placementKind) Enum() []string { return []string{PlacementRuleKind, PlacementKind} }

// Validate checks that the kind belongs to the API group.
func (d *placementRefDoc) Validate(at *diag.At) {
	group := map[placementKind]placementAPIGroup{PlacementRuleKind: ruleGroup, PlacementKind: placementGroup}[d.Kind]
	if group != d.APIGroup {
		at.Field("apiGroup").Errorf(diag.FieldNotAllowed, "write "+string(group), "%s does not belong to API group %s", d.Kind, d.APIGroup)
	}
	d.ref = Ref{string(d.Kind), string(d.Name), at.Pos(), at.Path()}
}

type subjectDoc struct {
	APIGroup subjectGroup `json:"apiGroup"`
	Kind     string       `json:"kind"`
	Name     objectName   `json:"name"`
	subject  Subject
}

//confgen:openapi {"enum": ["policy.open-cluster-management.io", "kuma.io"]}
type subjectGroup string

// Enum returns the groups of subjects.
func (subjectGroup) Enum() []string { return []string{policyGroup, meshGroup} }

// Validate checks the kind of an OCM subject. Any kind is accepted for a mesh policy;
// only the loader has the list of these kinds.
func (d *subjectDoc) Validate(at *diag.At) {
	kinds := []string{PolicyKind, PolicySetKind}
	if d.APIGroup == policyGroup && !slices.Contains(kinds, d.Kind) {
		at.Field("kind").Errorf(diag.UnknownKind, diag.DidYouMean(d.Kind, kinds), "unknown kind %q of API group %s", d.Kind, d.APIGroup)
	}
	d.subject = Subject{Ref{d.Kind, string(d.Name), at.Pos(), at.Path()}, d.APIGroup == meshGroup}
}
