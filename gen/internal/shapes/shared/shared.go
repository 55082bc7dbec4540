package shared

import "strings"

// Percent is a scalar of another package.
type Percent float64

// Limits is merged field by field if a conf points to it.
type Limits struct {
	MaxConnections *uint32  `json:"maxConnections,omitzero"`
	Threshold      *Percent `json:"threshold,omitzero"`
}

// Header is a value: lists of it are replaced whole.
type Header struct {
	Name  string   `json:"name"`
	Value *string  `json:"value,omitzero"`
	Also  []string `json:"also,omitzero"`
}

// Host is a host name, compared without regard to letter case: a type with its own
// methods.
type Host struct {
	Name string `json:"name"`
}

// Equal reports whether h and o name the same host.
func (h Host) Equal(o Host) bool { return strings.EqualFold(h.Name, o.Name) }

// Hash returns the same hash for equal hosts.
func (h Host) Hash() uint64 { return uint64(len(h.Name)) }

// Clone returns h.
func (h Host) Clone() Host { return h }
