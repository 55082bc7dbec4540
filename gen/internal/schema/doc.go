// Package schema makes OpenAPI schemas of Go types, in the structural form that
// Kubernetes requires of a CustomResourceDefinition: each value has one type, and the
// conditions in allOf, anyOf, oneOf and not have none.
//
// The schema of a type accepts what package strict decodes into the type. So it follows
// the same rules:
//
//	Go                                  schema
//	struct                              object; a field without omitzero is required
//	map[K]V, a type with SetEntries     object with additionalProperties
//	[]E                                 array
//	bool, integers, floats, strings     the scalar, with the limits of its size
//	a string with a method Enum         string with an enum
//	time.Time                           string of format date-time
//	any                                 x-kubernetes-preserve-unknown-fields
//	a struct with a field of the tag    the arms are allowed only with their type, and are
//	policyMerge:"discriminator"         required with it if they have a required field
//	alias:"name"                        one more property
//
// Limits that a Validate method checks are not visible in a type. The directive
// //confgen:openapi gives them, at a type or a field. Types that decode themselves
// (DecodeAt, UnmarshalText, UnmarshalJSON) need it, with a type.
//
// A type that contains itself is cut where it occurs again: a structural schema cannot
// refer to itself.
//
// Invariants: the same source gives the same bytes. No schema refuses what strict and
// the Validate methods accept.
package schema
