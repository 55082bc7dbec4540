package meshloadbalancingstrategy

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// LocalityAwareness prefers endpoints in nearby zones.
type LocalityAwareness struct {
	// Disabled treats the endpoints of all zones equally; nil means false.
	Disabled  *bool      `json:"disabled,omitzero"`
	LocalZone *LocalZone `json:"localZone,omitzero"`
	CrossZone *CrossZone `json:"crossZone,omitzero"`
}

// LocalZone prefers endpoints of the proxy's own zone that have the same values
// for some tags.
type LocalZone struct {
	AffinityTags AffinityTags `json:"affinityTags,omitzero"`
}

// AffinityTags contains the tags, the most important one first.
type AffinityTags []AffinityTag

// AffinityTag is a tag with its weight, relative to the weights of the other tags. The
// rest of the zone has the weight 1. Without weights, each tag in turn gets nine
// tenths of the remaining traffic.
type AffinityTag struct {
	Key    string      `json:"key"`
	Weight *conf.Count `json:"weight,omitzero"`
}

// Validate checks the keys, and that either all tags have weights or none do.
func (tags AffinityTags) Validate(at *diag.At) {
	weighted := slices.ContainsFunc(tags, func(tag AffinityTag) bool { return tag.Weight != nil })
	for i := range tags {
		conf.ValidateTagKey(at.Index(i).Field("key"), tags[i].Key)
		if weighted && tags[i].Weight == nil {
			at.Index(i).Field("weight").Errorf(diag.MissingField, "", "all tags must have a weight, or none")
		}
	}
}

// CrossZone determines the destination of requests that the proxy's own zone
// cannot serve.
type CrossZone struct {
	// Failover contains rules. The rules for the proxy's own zone apply in order: a rule
	// applies if the zones of the previous rules are not healthy. Without rules, requests
	// stay in the zone.
	Failover          []Failover         `json:"failover,omitzero"`
	FailoverThreshold *FailoverThreshold `json:"failoverThreshold,omitzero"`
}

// FailoverThreshold is the share of healthy endpoints below which requests go to the
// next zone; nil means 50 %.
type FailoverThreshold struct {
	Percentage conf.Percentage `json:"percentage" policyMerge:"replace"`
}

// Validate reports zero: Envoy gets 100 divided by the percentage.
func (t *FailoverThreshold) Validate(at *diag.At) {
	if t.Percentage.Float() == 0 {
		at.Field("percentage").Errorf(diag.OutOfRange, "leave failover out to stay in the zone", "must be greater than 0")
	}
}

// Failover is a rule for the zones in From, or for all zones if it is nil.
type Failover struct {
	From *FromZone `json:"from,omitzero"`
	To   ToZone    `json:"to"`
}

// FromZone contains the zones to which a [Failover] applies.
//
//confgen:openapi {"allOf": [{"properties": {"zones": {"minItems": 1, "items": {"minLength": 1}}}}]}
type FromZone struct {
	Zones []string `json:"zones"`
}

// Validate checks that there are zones.
func (f *FromZone) Validate(at *diag.At) {
	if len(f.Zones) == 0 {
		at.Field("zones").Errorf(diag.EmptyValue, "leave from out for all zones", "must not be empty")
	}
	validateNames(at.Field("zones"), f.Zones)
}

// ToZone determines the zones to which requests may go.
//
//confgen:openapi {"allOf": [{"anyOf": [{"not": {"properties": {"type": {"enum": ["Only", "AnyExcept"]}}}}, {"required": ["zones"]}]}, {"anyOf": [{"not": {"properties": {"type": {"enum": ["None", "Any"]}}}}, {"not": {"required": ["zones"]}}]}]}
type ToZone struct {
	Type  ToZoneType `json:"type"`
	Zones []string   `json:"zones,omitzero"`
}

// ToZoneType determines how a [ToZone] uses its zones.
type ToZoneType string

// The types: no other zone, the listed zones, every zone, and every zone except the
// listed ones.
const (
	NoZone          ToZoneType = "None"
	OnlyZones       ToZoneType = "Only"
	AnyZone         ToZoneType = "Any"
	AnyZoneExceptOf ToZoneType = "AnyExcept"
)

// Enum returns the allowed values.
func (ToZoneType) Enum() []string { return conf.Words(NoZone, OnlyZones, AnyZone, AnyZoneExceptOf) }

// Validate checks that there are zones if and only if the type needs them.
func (z *ToZone) Validate(at *diag.At) {
	switch z.Type {
	case OnlyZones, AnyZoneExceptOf:
		if len(z.Zones) == 0 {
			at.Field("zones").Errorf(diag.EmptyValue, "", "must not be empty for type %q", z.Type)
		}
		validateNames(at.Field("zones"), z.Zones)
	case NoZone, AnyZone:
		if z.Zones != nil {
			at.Field("zones").Errorf(diag.FieldNotAllowed, "remove them", "are not allowed with type %q", z.Type)
		}
	}
}
