package conf

import (
	"fmt"
	"iter"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
)

// CollectorKind is the kind of a resource that describes a collector.
type CollectorKind string

// Enum returns the only allowed value.
func (CollectorKind) Enum() []string { return []string{"MeshOpenTelemetryBackend"} }

// CollectorRef refers to a resource that describes a telemetry collector, by its name
// or by its labels.
//
//confgen:openapi {"oneOf": [{"required": ["name"]}, {"required": ["labels"]}]}
type CollectorRef struct {
	Kind   CollectorKind     `json:"kind"`
	Name   *string           `json:"name,omitzero"`
	Labels map[string]string `json:"labels,omitzero"`
}

// Validate checks that there is either a name or labels.
func (c *CollectorRef) Validate(at *diag.At) {
	if c.Name != nil {
		at.Field("name").If(diag.AsKuma).Errorf(diag.FieldNotAllowed, "use labels", "Kuma finds a collector by its labels alone")
	}
	switch {
	case c.Name != nil && c.Labels != nil:
		at.Field("labels").Errorf(diag.BothPresent, "use one of them", "a collector is found by name or by labels, not by both")
	case c.Name != nil && *c.Name == "":
		at.Field("name").Errorf(diag.EmptyValue, "", "must not be empty")
	case c.Name == nil && len(c.Labels) == 0:
		at.Field("name").Errorf(diag.MissingField, "or give labels", "required field is missing")
	}
}

// A collectorUser is a conf that may send telemetry to collectors by reference.
type collectorUser interface {
	// CollectorRefs yields the references, each with its JSON pointer in the conf.
	CollectorRefs() iter.Seq2[string, *CollectorRef]
}

// CollectorRefs yields the references of a conf to collectors, each with its JSON pointer.
func CollectorRefs(c any) iter.Seq2[string, *CollectorRef] {
	if user, is := c.(collectorUser); is {
		return user.CollectorRefs()
	}
	return func(func(string, *CollectorRef) bool) {}
}

// CollectorRefsOf yields the references of a list of backends, the field `backends` of a conf.
// The functions return the field `openTelemetry` of a backend, and the reference in it, or nil.
func CollectorRefsOf[B, C any](backends []B, collector func(*B) *C, ref func(*C) *CollectorRef) iter.Seq2[string, *CollectorRef] {
	return func(yield func(string, *CollectorRef) bool) {
		for i := range backends {
			c := collector(&backends[i])
			if c == nil {
				continue
			}
			if r := ref(c); r != nil && !yield(fmt.Sprintf("/backends/%d/openTelemetry/backendRef", i), r) {
				return
			}
		}
	}
}

// WithoutEndpoints returns a copy of such a list without the endpoints of collectors, with their
// JSON pointers in the conf; nil if there are none. The functions return where a backend has
// its collector, and where that has its endpoint.
func WithoutEndpoints[B, C any](backends []B, collector func(*B) **C, endpoint func(*C) **Endpoint) (without []B, pointers []string) {
	for i := range backends {
		from := *collector(&backends[i])
		if from == nil || *endpoint(from) == nil {
			continue
		}
		if without == nil {
			without = slices.Clone(backends)
		}
		to := *from
		*endpoint(&to) = nil
		*collector(&without[i]) = &to
		pointers = append(pointers, fmt.Sprintf("/backends/%d/openTelemetry/endpoint", i))
	}
	return without, pointers
}

// RefersToCollector reports whether a conf has such a reference.
func RefersToCollector(c any) bool {
	for range CollectorRefs(c) {
		return true
	}
	return false
}

// ValidateCollector checks that exactly one of endpoint and backendRef, two fields of
// the mapping at the place, is given.
func ValidateCollector(at *diag.At, endpoint *Endpoint, ref *CollectorRef) {
	switch {
	case endpoint == nil && ref == nil:
		at.Field("endpoint").Errorf(diag.MissingField, "or give a backendRef", "required field is missing")
	case endpoint != nil && ref != nil:
		at.Field("backendRef").Errorf(diag.BothPresent, "use one of them", "endpoint and backendRef are both present")
	}
}
