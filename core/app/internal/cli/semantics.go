package cli

import (
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/resource"
)

// autoSemantics means that a command that only reads chooses the semantics by the input.
const autoSemantics = "auto"

// semanticsNames are the values of --semantics.
var semanticsNames = []string{autoSemantics, semantics.TargetRef.String(), semantics.Kuma.String(), semantics.Kuma3.String()}

// semanticsOf returns the semantics of --semantics for one or more sets of resources,
// which are read by the same one (SPEC 17.1).
func (g *globals) semanticsOf(sets ...*resource.Set) (semantics.Semantics, error) {
	if g.semantics.word != autoSemantics {
		return semantics.Parse(g.semantics.word)
	}
	for _, set := range sets {
		if detected, because := semantics.Detect(set); because != nil {
			return detected, nil
		}
	}
	return semantics.TargetRef, nil
}

// servedSemantics returns the semantics of --semantics for a command that acts on
// proxies or plans to. It does not choose by the input, so that no label of a resource
// switches permissions off: if the input comes from a Kuma control plane, the user has to
// name a semantics.
func (g *globals) servedSemantics(set *resource.Set) (semantics.Semantics, error) {
	if g.semantics.word != autoSemantics {
		return semantics.Parse(g.semantics.word)
	}
	if detected, because := semantics.Detect(set); because != nil {
		return semantics.TargetRef, usagef("%s: %s is of a Kuma control plane; give --semantics %s to read all policies as that does, or --semantics %s",
			because.Pos, because.ID, detected, semantics.TargetRef)
	}
	return semantics.TargetRef, nil
}
