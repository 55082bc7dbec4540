package core

import (
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Semantics is a way to read policies (SPEC 17.1). The zero Semantics is [TargetRef].
type Semantics = semantics.Semantics

// The ways to read policies.
const (
	TargetRef = semantics.TargetRef // by the proposals
	Kuma      = semantics.Kuma      // like the control planes of Kuma 2
	Kuma3     = semantics.Kuma3     // like the control planes of Kuma 3
)

// ParseSemantics returns the semantics with a name: targetref, kuma or kuma3.
func ParseSemantics(name string) (Semantics, error) { return semantics.Parse(name) }

// DetectSemantics returns the semantics of resources, and the resource that decides; nil for
// [TargetRef].
func DetectSemantics(set *resource.Set) (Semantics, *resource.Meta) { return semantics.Detect(set) }
