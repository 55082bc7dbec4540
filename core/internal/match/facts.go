package match

import "github.com/meshmatch/meshmatch/core/internal/semantics"

// fact is what a point can have and a selector can require: a fact of package semantics, or of
// one of the spaces below. The [index.Term] of a fact is its number.
type fact = semantics.Fact

const (
	placement = semantics.FirstFree + iota // the placement that the dataplane is in: scope and name
	zone                                   // the dataplane's zone is the value; in a DataplaneIndex only
	zoned                                  // the dataplane has a zone; in a DataplaneIndex only
	start                                  // the facts that follow are of the next point, or of the proxy; no fact itself
)
