package proxied

import (
	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/xds/snapshot"
)

// State is what answers over HTTP are about until the next state. It is immutable.
type State struct {
	View      *core.View
	Set       *resource.Set // that the view was made from
	Snapshots *snapshot.State
	// Superseded is closed when there is a newer state.
	Superseded <-chan struct{}
}
