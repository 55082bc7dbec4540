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
	streams map[string][]*stream // in any order
}

// streamsOf returns the streams of a node. The caller may keep the slice.
func (n *nodeIndex) streamsOf(id string) []*stream {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return slices.Clone(n.streams[id])
}

func (n *nodeIndex) add(s *stream) {
	n.mu.Lock()
	defer n.mu.Unlock()
	known := n.streams[s.node.ID]
	if known == nil {
		known = make([]*stream, 0, 1) // most nodes have one stream
	}
	n.streams[s.node.ID] = append(known, s)
}

func (n *nodeIndex) remove(s *stream) {
	if s.node.ID == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	list := n.streams[s.node.ID]
	at := slices.Index(list, s)
	if at < 0 {
		return
	}
	last := len(list) - 1
	list[at], list[last] = list[last], nil
	if last == 0 {
		delete(n.streams, s.node.ID)
	} else {
		n.streams[s.node.ID] = list[:last]
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

// EachAgent calls a function with the user agent and the version of each stream of a node, as the
// client states them. The function must not call the server.
func (s *Server) EachAgent(f func(userAgent, version string)) {
	s.nodes.mu.RLock()
	defer s.nodes.mu.RUnlock()
	for _, streams := range s.nodes.streams {
		for _, st := range streams {
			f(st.node.UserAgent, st.node.Version)
		}
	}
}
