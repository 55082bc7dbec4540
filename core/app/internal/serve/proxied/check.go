package proxied

import (
	"context"

	"github.com/meshmatch/meshmatch/core/app/internal/inspect/check"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// NewCheck returns the answer of `check` about a state and the set that its view was made
// from, without the findings that the set ignores. With tls it has the dataplanes that are
// served to no client over TLS. It returns the errors of [snapshot.State.Unserved]; with a
// [diag.Errors] it returns an answer too, which has the warnings.
func NewCheck(ctx context.Context, s *snapshot.State, set *resource.Set, tls bool) (*check.Check, error) {
	answer := check.New(s.View(), set)
	warnings, err := s.Unserved(ctx, xds.Client{})
	if _, mistakes := err.(diag.Errors); err != nil && !mistakes {
		return nil, err
	}
	findings := append(answer.Findings(), warnings...)
	if tls {
		findings = append(findings, check.Unidentified(s.View())...)
	}
	answer.SetFindings(diag.WithoutIgnored(findings, set.Ignores, set.Positions(), func(code diag.Code) bool {
		return code.Definition().TLS && !tls || code.IsForNextVersion()
	}))
	return answer, err
}
