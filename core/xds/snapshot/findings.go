package snapshot

import (
	"context"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/semantics"
	"github.com/meshmatch/meshmatch/core/xds"
)

// ofTheMesh are the findings that hold for each data plane: routes and permissions that no
// request gets to, bounds that contradict each other, and backends without endpoints. Another
// one is what a patch adds to a resource and Envoy does not read.
var ofTheMesh = []diag.Code{
	diag.EvadableEntry, diag.BroaderOnTCP, diag.UnseenEntry, diag.NeverMatches, diag.ContradictingValues,
	diag.NoEndpoints, diag.UnresolvedReference, diag.FieldNotUsed,
}

// Unserved returns the warnings of what proxies cannot do (SPEC 11.1), for Envoys like the given
// one. The error is a
// [diag.Errors] about dataplanes that cannot be served as their policies ask for, or the
// cause of the context.
func (s *State) Unserved(ctx context.Context, envoy xds.Client) ([]diag.Diagnostic, error) {
	view := s.View()
	if !slices.ContainsFunc(view.Meshes(), func(mesh string) bool {
		return len(view.Policies(mesh)) > 0 || len(view.Identities(mesh).All()) > 0
	}) {
		return nil, nil // dataplanes alone ask for nothing
	}
	found, err := s.checkFor(ctx, envoy)
	if err != nil {
		return nil, err
	}
	var mistakes diag.Errors
	var warnings []diag.Diagnostic
	for _, w := range found {
		d := w.Diagnostic()
		d.Serve = !slices.Contains(ofTheMesh, d.Code) && !isOfPatch(&w) || w.ForLackOfTLS() && w.Policy != nil && isClassic(view, w.Policy.Mesh)
		if w.Error {
			mistakes = append(mistakes, d)
		} else {
			warnings = append(warnings, d)
		}
	}
	if mistakes != nil {
		return warnings, mistakes
	}
	return warnings, nil
}

// isOfPatch reports whether a warning is about a patch that the proxies of Kuma have no effect of
// either: Envoy refuses the result, or does not read it.
func isOfPatch(w *xds.Warning) bool {
	return w.Code == diag.PatchNotApplied && (w.Advice || strings.Contains(w.Message, "Envoy would refuse"))
}

// isClassic reports whether the proxies of Kuma have TLS without a MeshIdentity in a mesh.
func isClassic(view *core.View, name string) bool {
	mesh := view.Mesh(name)
	return view.Semantics() == semantics.Kuma && mesh != nil && mesh.Spec.MTLS.Enabled() != nil
}
