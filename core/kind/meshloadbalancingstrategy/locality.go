package meshloadbalancingstrategy

import (
	"slices"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
)

// LocalityAwareness prefers endpoints that are near.
type LocalityAwareness struct {
	// Disabled makes all endpoints of all zones equal; not set means false.
	Disabled  *bool      `json:"disabled,omitzero"`
	LocalZone *LocalZone `json:"localZone,omitzero"`
	CrossZone *CrossZone `json:"crossZone,omitzero"`
}

// LocalZone prefers endpoints of the own zone that have the same values of
// some tags.
type LocalZone struct {
	AffinityTags AffinityTags `json:"affinityTags,omitzero"`
}

// AffinityTags is the tags, the most important one first.
type AffinityTags []AffinityTag

// AffinityTag is a tag with its part of the traffic, relative to the others and
// to the rest of the zone, which has 1. Not set, nine tenths of what is left over
// goes to each tag in turn.
type AffinityTag struct {
	Key    string      `json:"key"`
	Weight *conf.Count `json:"weight,omitzero"`
}

// Validate checks the keys, and that all tags have weights, or none.
func (tags AffinityTags) Validate(at *diag.At) {
	weighted := slices.ContainsFunc(tags, func(tag AffinityTag) bool { return tag.Weight != nil })
	for i := range tags {
		conf.ValidateTagKey(at.Index(i).Field("key"), tags[i].Key)
		if weighted && tags[i].Weight == nil {
			at.Index(i).Field("weight").Errorf("", "all tags must have a weight, or none")
		}
	}
}

// CrossZone is where requests go that the own zone cannot serve.
type CrossZone struct {
	// Failover is rules. Those that are for the own zone apply in their order: a
	// later one if the zones of those before it are not healthy. Without any,
	// requests stay in the zone.
	Failover          []Failover         `json:"failover,omitzero"`
	FailoverThreshold *FailoverThreshold `json:"failoverThreshold,omitzero"`
}

// FailoverThreshold is the share of healthy endpoints below which requests go
// to the next zone, 50 % if it is not set.
type FailoverThreshold struct {
	Percentage conf.Percentage `json:"percentage" policyMerge:"replace"`
}

// Validate refuses zero: Envoy gets 100 divided by the percentage.
func (t *FailoverThreshold) Validate(at *diag.At) {
	if t.Percentage.Float() == 0 {
		at.Field("percentage").Errorf("leave failover out to stay in the zone", "must be greater than 0")
	}
}

// Failover is a rule for the zones From, all of them if it is not set.
type Failover struct {
	From *FromZone `json:"from,omitzero"`
	To   ToZone    `json:"to"`
}

// FromZone is the zones that a [Failover] is for.
type FromZone struct {
	Zones []string `json:"zones"`
}

// Validate checks that there are zones.
func (f *FromZone) Validate(at *diag.At) {
	if len(f.Zones) == 0 {
		at.Field("zones").Errorf("leave from out for all zones", "must not be empty")
	}
	validateNames(at.Field("zones"), f.Zones)
}

// ToZone is the zones that requests may go to.
type ToZone struct {
	Type  ToZoneType `json:"type"`
	Zones []string   `json:"zones,omitzero"`
}

// ToZoneType is how a [ToZone] uses its zones.
type ToZoneType string

// The types: no other zone, those of the list, every one, every one but those
// of the list.
const (
	NoZone          ToZoneType = "None"
	OnlyZones       ToZoneType = "Only"
	AnyZone         ToZoneType = "Any"
	AnyZoneExceptOf ToZoneType = "AnyExcept"
)

// Enum returns the words.
func (ToZoneType) Enum() []string { return conf.Words(NoZone, OnlyZones, AnyZone, AnyZoneExceptOf) }

// Validate checks that there are zones exactly where the type needs them.
func (z *ToZone) Validate(at *diag.At) {
	switch z.Type {
	case OnlyZones, AnyZoneExceptOf:
		if len(z.Zones) == 0 {
			at.Field("zones").Errorf("", "must not be empty for type %q", z.Type)
		}
		validateNames(at.Field("zones"), z.Zones)
	case NoZone, AnyZone:
		if z.Zones != nil {
			at.Field("zones").Errorf("remove them", "do not go with type %q", z.Type)
		}
	}
}
