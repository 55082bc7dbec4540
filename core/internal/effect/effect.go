package effect

import (
	"slices"
	"strconv"
	"strings"
)

// An Area is the part of a proxy in which a conf acts.
type Area uint8

// The parts.
const (
	HTTPInbound Area = iota
	TCPInbound
	HTTPOutbound
	TCPOutbound
	Proxy        // listeners of the proxy itself: metrics, passthrough
	NumParts int = iota
)

// String returns the part in lower case.
func (p Area) String() string {
	return [...]string{"HTTP inbound", "TCP inbound", "HTTP outbound", "TCP outbound", "proxy"}[p]
}

// Resources is a set of types of resources.
type Resources uint8

// The types.
const (
	Listener Resources = 1 << iota
	Routes
	Cluster
	Endpoints
	Extension
)

// Drain reports whether a change of these resources closes connections of clients.
func (r Resources) Drain() bool { return r&Listener != 0 }

// String returns the types, separated by commas.
func (r Resources) String() string {
	var names []string
	for i, name := range []string{"listener", "routes", "cluster", "endpoints", "extension"} {
		if r&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// A Row is what the fields at and below one field change. A row of a longer field
// overrides it.
type Row struct {
	Kind string
	// Field is a JSON pointer; "" is the whole conf. The segment * is any element of a list,
	// and 2+ any but the first two.
	Field   string
	Changes [NumParts]Resources
}

// Table returns the rows, sorted by kind and field. The caller must not change them.
func Table() []Row { return table }

// ChangedBy returns the resources of a part that a change of a field may change. The field is a
// JSON pointer. Known is false if the table does not have the kind, as it may be an
// embedder's.
func ChangedBy(kind, field string, part Area) (changes Resources, known bool) {
	best := -1
	segments := split(field)
	for i := range table {
		row := &table[i]
		if row.Kind != kind {
			continue
		}
		known = true
		if of := split(row.Field); len(of) > best && matches(of, segments) {
			best, changes = len(of), row.Changes[part]
		}
	}
	return changes, known
}

// MayDrain reports whether some field of a kind changes the listener of a part. A kind that
// is not in the table may.
func MayDrain(kind string, part Area) bool {
	return slices.ContainsFunc(table, func(r Row) bool { return r.Kind == kind && r.Changes[part].Drain() }) ||
		!slices.ContainsFunc(table, func(r Row) bool { return r.Kind == kind })
}

// Covers reports whether a row, and no longer one, is the one of a field.
func (r *Row) Covers(field string) bool {
	segments := split(field)
	longer := func(o Row) bool {
		return o.Kind == r.Kind && len(split(o.Field)) > len(split(r.Field)) && matches(split(o.Field), segments)
	}
	return matches(split(r.Field), segments) && !slices.ContainsFunc(table, longer)
}

func split(field string) []string {
	if field == "" {
		return nil
	}
	return strings.Split(field[1:], "/")
}

// matches reports whether a field is at or below the one of a row.
func matches(row, field []string) bool {
	if len(row) > len(field) {
		return false
	}
	for i, segment := range row {
		n, err := strconv.Atoi(field[i])
		switch {
		case segment == "*" && (err == nil || field[i] == "*"), segment == "2+" && err == nil && n >= 2:
		case segment != field[i]:
			return false
		}
	}
	return true
}
