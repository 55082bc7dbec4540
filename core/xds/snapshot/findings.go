package snapshot

import (
	"context"
	"slices"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/inspect/check"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Unserved returns the warnings of what proxies cannot do (SPEC 11.1). The error is a
// [diag.Errors] about dataplanes that cannot be served as their policies ask for, or the
// cause of the context.
func (s *State) Unserved(ctx context.Context) ([]diag.Diagnostic, error) {
	view := s.View()
	if !slices.ContainsFunc(view.Meshes(), func(mesh string) bool {
		return len(view.Policies(mesh)) > 0 || len(view.Identities(mesh).All()) > 0
	}) {
		return nil, nil // dataplanes alone ask for nothing
	}
	found, err := s.Check(ctx)
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

// NewCheck returns the answer of `check` about a state and the set that its view was made
// from, without the findings that the set ignores. With tls it has the dataplanes that are
// served to no client over TLS. It returns the errors of [State.Unserved]; with a
// [diag.Errors] it returns an answer too, which has the warnings.
func (s *State) NewCheck(ctx context.Context, set *resource.Set, tls bool) (*check.Check, error) {
	answer := check.New(s.View(), set)
	warnings, err := s.Unserved(ctx)
	if _, mistakes := err.(diag.Errors); err != nil && !mistakes {
		return nil, err
	}
	answer.Warnings = append(answer.Warnings, warnings...)
	if tls {
		answer.Warnings = append(answer.Warnings, check.Unidentified(s.View())...)
	}
	answer.Warnings = diag.WithoutIgnored(answer.Warnings, set.Ignores, set.Positions(), func(code diag.Code) bool {
		return code.Definition().TLS && !tls || code.IsForNextVersion()
	})
	return answer, err
}
