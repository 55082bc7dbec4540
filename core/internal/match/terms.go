package match

import "github.com/meshmatch/meshmatch/core/internal/semantics"

// term is a fact that a point can have and a selector can require. It is a fact
// of package semantics or of one of the spaces below.
type term = semantics.Fact

const (
	placement = semantics.FirstFree + iota // the placement that the dataplane is in: scope and name
	zone                                   // the dataplane's zone is the value; in a DataplaneIndex only
	zoned                                  // the dataplane has a zone; in a DataplaneIndex only
	start                                  // the terms that follow are of the next point, or of the proxy; no term itself
)
