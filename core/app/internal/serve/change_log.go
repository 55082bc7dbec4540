package serve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/variant"
	"github.com/meshmatch/meshmatch/core/resource"
)

// log writes one line about a load: how many resources the first one has, and what a later
// one changed.
func (s *Server) log(commit core.Commit, first bool) {
	if first {
		counts := commit.After.Count()
		s.options.Logger.Info(fmt.Sprintf("loaded %s and %s", diag.Count(counts[resource.DataplaneKind], "dataplane"), diag.Count(len(s.applied.Policies), "policy")))
		return
	}
	loaded := "the files were loaded again"
	if s.files.Store {
		loaded = fmt.Sprintf("revision %d is served", s.files.Revision)
	}
	s.options.Logger.Info(loaded + "; " + changeOf(commit))
}

// logUnserved logs how many documents of variants are not served, if that has changed. Their
// content has no type of xDS.
func (s *Server) logUnserved() {
	unserved := 0
	for range resource.DocumentsOf[variant.VariantsDocument](s.applied) {
		unserved++
	}
	for range resource.DocumentsOf[variant.FragmentsDocument](s.applied) {
		unserved++
	}
	if unserved > 0 && unserved != s.unserved {
		s.options.Logger.Warn(diag.Count(unserved, "document") + " of the types ResourceVariants and ResourceFragments: their content has no type of xDS, and is not served; use the command variants")
	}
	s.unserved = unserved
}

// logHeld logs which removals begin to be held, and which are no longer held.
func (s *Server) logHeld(held heldNow) {
	for _, m := range held.begun {
		s.options.Logger.Warn(fmt.Sprintf("the files lack %d of %s of the mesh %s; they are removed in %v unless they come back",
			m.n, diag.Count(m.of, "dataplane"), m.mesh, s.options.RemovalGrace))
	}
	if held.back > 0 {
		s.options.Logger.Info(diag.Count(held.back, "dataplane") + " came back before the removal was applied")
	}
}

// changeOf describes what a commit changed. A changed identity changes certificates, and
// the clusters and inbounds that use them. It changes the configuration of no dataplane.
func changeOf(commit core.Commit) string {
	var changed []string
	dataplanes := 0
	for _, change := range commit.Changes() {
		dataplanes += change.Len()
	}
	if dataplanes > 0 {
		changed = append(changed, "the configuration of "+diag.Count(dataplanes, "dataplane"))
	}
	if destinations := commit.DestinationChanges(); len(destinations) > 0 {
		changed = append(changed, changedDestinations(destinations))
	}
	before, after := commit.Before, commit.After
	for _, mesh := range after.Meshes() {
		if before.Identities(mesh) != after.Identities(mesh) {
			changed = append(changed, "the identities of the mesh "+mesh)
		}
		if before.Collectors(mesh) != after.Collectors(mesh) {
			changed = append(changed, "the collectors of the mesh "+mesh)
		}
		if !slices.Equal(before.Trusts(mesh), after.Trusts(mesh)) {
			changed = append(changed, "the trust of the mesh "+mesh)
		}
	}
	if len(changed) == 0 {
		return "no dataplane changes"
	}
	return "they change " + strings.Join(changed, " and ")
}

// changedDestinations describes how many destinations changed.
func changedDestinations(changes []core.DestinationChange) string {
	isAll := func(c core.DestinationChange) bool { return c.Destination == resource.ID{} }
	if slices.ContainsFunc(changes, isAll) {
		return "every destination"
	}
	return diag.Count(len(changes), "destination")
}
