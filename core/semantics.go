package core

import (
	"fmt"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Semantics is a way to read policies (SPEC 17.1).
type Semantics = semantics.Semantics

// The semantics.
const (
	TargetRef = semantics.TargetRef // SPEC 1 to 9
	Kuma      = semantics.Kuma      // as a control plane of Kuma 2.14
	Kuma3     = semantics.Kuma3     // as a control plane of Kuma 3.0
)

// ParseSemantics returns the semantics with a name: targetref, kuma or kuma3.
func ParseSemantics(name string) (Semantics, error) { return semantics.Parse(name) }

// Detect returns the semantics of resources, as the commands choose it: [Kuma] if a policy
// has a label that Kuma's control planes write, or if there is a MeshService, otherwise
// [TargetRef].
func Detect(set *resource.Set) Semantics {
	detected, _ := semantics.Detect(set)
	return detected
}

// otherSemantics returns a warning if resources are of another semantics than the engine's.
// Kuma's semantics also read resources without such labels.
func otherSemantics(own Semantics, set *resource.Set) []diag.Diagnostic {
	if set == nil || own != TargetRef {
		return nil
	}
	detected, because := semantics.Detect(set)
	if because == nil {
		return nil
	}
	return []diag.Diagnostic{{
		Code: diag.OtherSemantics, Pos: because.Pos,
		What: fmt.Sprintf("%s is of a Kuma control plane, and policies are read by %s", because.ID, own),
		Hint: fmt.Sprintf("choose %s, or what Detect finds", detected),
	}}
}
