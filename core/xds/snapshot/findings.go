package snapshot

import (
	"context"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/xds"
)

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
		if w.Error {
			mistakes = append(mistakes, w.Diagnostic())
		} else {
			warnings = append(warnings, w.Diagnostic())
		}
	}
	if mistakes != nil {
		return warnings, mistakes
	}
	return warnings, nil
}
