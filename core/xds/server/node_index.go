package server

import (
	"maps"
	"slices"
	"sync"
	"unique"
)

// A nodeIndex has the streams of each node id.
type nodeIndex struct {
	mu      sync.RWMutex
	streams map[string][]*stream // the slices are never changed
}

func (n *nodeIndex) init() { n.streams = map[string][]*stream{} }

// of returns the streams of a node.
func (n *nodeIndex) of(id string) []*stream {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.streams[id]
}

func (n *nodeIndex) add(s *stream) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streams[s.node.ID] = append(slices.Clone(n.streams[s.node.ID]), s)
}

func (n *nodeIndex) remove(s *stream) {
	if s.node.ID == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(n.streams[s.node.ID]), func(o *stream) bool { return o == s })
	if len(rest) == 0 {
		delete(n.streams, s.node.ID)
	} else {
		n.streams[s.node.ID] = rest
	}
}

// intern returns an equal string that all streams share.
func intern(s string) string { return unique.Make(s).Value() }

// NodeIDs returns the ids of all nodes that have a stream.
func (s *Server) NodeIDs() []string {
	s.nodes.mu.RLock()
	defer s.nodes.mu.RUnlock()
	return slices.Collect(maps.Keys(s.nodes.streams))
}
