package server

import (
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"unique"
)

// A nodeIndex has the streams of each node id. It has shards. Without them, thousands of
// streams that begin and end at once would wait for one lock, or for a walk over all
// nodes.
type nodeIndex struct {
	seed   maphash.Seed
	shards [64]nodeShard
}

type nodeShard struct {
	mu      sync.RWMutex
	streams map[string][]*stream // in any order
}

func (n *nodeIndex) init() {
	n.seed = maphash.MakeSeed()
	for i := range n.shards {
		n.shards[i].streams = map[string][]*stream{}
	}
}

func (n *nodeIndex) shard(id string) *nodeShard {
	return &n.shards[maphash.String(n.seed, id)%uint64(len(n.shards))]
}

// streamsOf returns the streams of a node. The caller may keep the slice.
func (n *nodeIndex) streamsOf(id string) []*stream {
	sh := n.shard(id)
	sh.mu.RLock()
	defer sh.mu.RUnlock()
	return slices.Clone(sh.streams[id])
}

func (n *nodeIndex) add(s *stream) {
	sh := n.shard(s.node.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	known := sh.streams[s.node.ID]
	if known == nil {
		known = make([]*stream, 0, 1) // most nodes have one stream
	}
	sh.streams[s.node.ID] = append(known, s)
}

func (n *nodeIndex) remove(s *stream) {
	if s.node.ID == "" {
		return
	}
	sh := n.shard(s.node.ID)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	list := sh.streams[s.node.ID]
	at := slices.Index(list, s)
	if at < 0 {
		return
	}
	last := len(list) - 1
	list[at], list[last] = list[last], nil
	if last == 0 {
		delete(sh.streams, s.node.ID)
	} else {
		sh.streams[s.node.ID] = list[:last]
	}
}

// intern returns an equal string that all streams share.
func intern(s string) string { return unique.Make(s).Value() }

// NodeIDs returns the ids of all nodes that have a stream.
func (s *Server) NodeIDs() (ids []string) {
	for i := range s.nodes.shards {
		sh := &s.nodes.shards[i]
		sh.mu.RLock()
		ids = slices.AppendSeq(ids, maps.Keys(sh.streams))
		sh.mu.RUnlock()
	}
	return ids
}

// EachAgent calls a function with the user agent and the version of each stream of a node, as the
// client states them. The function must not call the server.
func (s *Server) EachAgent(f func(userAgent, version string)) {
	for i := range s.nodes.shards {
		sh := &s.nodes.shards[i]
		sh.mu.RLock()
		for _, streams := range sh.streams {
			for _, st := range streams {
				f(st.node.UserAgent, st.node.Version)
			}
		}
		sh.mu.RUnlock()
	}
}
