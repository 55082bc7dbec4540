package serve

import (
	"sync"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/resource"
)

// grpcNodes are the dataplanes whose clients are gRPC. Their warnings differ from those
// for Envoy. It is safe for concurrent use.
type grpcNodes struct {
	known     sync.Map      // by resource.ID
	connected chan struct{} // gets a value when a dataplane is added
}

// add adds a dataplane, and notifies connected if it is new. It does not block.
func (n *grpcNodes) add(id resource.ID) {
	if _, known := n.known.Load(id); known {
		return
	}
	if _, known := n.known.LoadOrStore(id, nil); known {
		return
	}
	select {
	case n.connected <- struct{}{}:
	default: // it has a value already
	}
}

// nodesOf returns the nodes of a view.
func (n *grpcNodes) nodesOf(view *core.View) (list []*resource.Dataplane) {
	n.known.Range(func(id, _ any) bool {
		if d := view.Dataplane(id.(resource.ID)); d != nil {
			list = append(list, d)
		}
		return true
	})
	return list
}

// forget removes the dataplanes that a commit removed.
func (n *grpcNodes) forget(commit core.Commit) {
	for before, after := range core.EditedDataplanes(commit.Before, commit.After) {
		if after == nil {
			n.known.Delete(before.ID)
		}
	}
}
