// Package fields reads the fields of encoded messages of xDS, without their types and without
// allocations.
package fields
