package meshretry

import (
	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// HostSelection contains the predicates that a host must pass to be used for a
// retry.
type HostSelection []Predicate

// Validate checks that OmitPreviousPriorities is not repeated.
func (s HostSelection) Validate(at *diag.At) {
	found := false
	for i := range s {
		if s[i].Predicate != OmitPreviousPriorities {
			continue
		}
		if found {
			at.Index(i).Field("predicate").Errorf(diag.DuplicateEntry, "remove one", "%s is allowed only once", OmitPreviousPriorities)
		}
		found = true
	}
}

// Predicate skips some hosts.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"predicate": {"enum": ["OmitHostsWithTags"]}}}}, {"required": ["tags"]}]}, {"anyOf": [{"not": {"properties": {"predicate": {"enum": ["OmitPreviousHosts", "OmitPreviousPriorities"]}}}}, {"not": {"required": ["tags"]}}]}, {"properties": {"updateFrequency": {"minimum": 1}}}]}
type Predicate struct {
	Predicate PredicateType `json:"predicate"`
	// Tags are the tags of the hosts that OmitHostsWithTags skips.
	Tags map[string]string `json:"tags,omitzero"`
	// UpdateFrequency is the number of attempts after which
	// OmitPreviousPriorities computes the priorities again; 2 by default.
	UpdateFrequency *int32 `json:"updateFrequency,omitzero"`
}

// PredicateType determines which hosts are skipped.
type PredicateType string

// The types of predicates.
const (
	OmitPreviousHosts      PredicateType = "OmitPreviousHosts"
	OmitHostsWithTags      PredicateType = "OmitHostsWithTags"
	OmitPreviousPriorities PredicateType = "OmitPreviousPriorities"
)

// Enum returns the allowed values.
func (PredicateType) Enum() []string {
	return conf.Words(OmitPreviousHosts, OmitHostsWithTags, OmitPreviousPriorities)
}

// SetDefaults sets the frequency.
func (p *Predicate) SetDefaults() { conf.Default(&p.UpdateFrequency, 2) }

// Validate checks that the type allows the fields.
func (p *Predicate) Validate(at *diag.At) {
	switch p.Predicate {
	case OmitHostsWithTags:
		if len(p.Tags) == 0 {
			at.Field("tags").Errorf(diag.MissingField, "", "is required for %s", p.Predicate)
		}
		conf.ValidateSelector(at.Field("tags"), p.Tags)
	case OmitPreviousHosts, OmitPreviousPriorities:
		if p.Tags != nil {
			at.Field("tags").Errorf(diag.FieldNotAllowed, "remove them", "are not allowed with %s", p.Predicate)
		}
	}
	if p.UpdateFrequency != nil && *p.UpdateFrequency <= 0 {
		at.Field("updateFrequency").Errorf(diag.OutOfRange, "", "must be at least 1")
	}
}
