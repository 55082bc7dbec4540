package server

import (
	"runtime"
	"sync"
)

// A streamSet has all streams, in one shard for each processor.
type streamSet struct{ shards []shard }

type shard struct {
	mu      sync.Mutex
	streams []*stream // each has its index
}

func (set *streamSet) init() { set.shards = make([]shard, runtime.GOMAXPROCS(0)) }

func (set *streamSet) shard(s *stream) *shard { return &set.shards[int(s.id)%len(set.shards)] }

func (set *streamSet) add(s *stream) {
	sh := set.shard(s)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s.index = int32(len(sh.streams))
	sh.streams = append(sh.streams, s)
}

func (set *streamSet) remove(s *stream) {
	sh := set.shard(s)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	end := len(sh.streams) - 1
	last := sh.streams[end]
	sh.streams[s.index], last.index = last, s.index
	sh.streams[end] = nil
	sh.streams = sh.streams[:end]
}

// A cursor visits all streams of a shard that are there from its first to its last use, and
// maybe others. Any goroutine may use it. It goes backwards: where a stream leaves, the last
// one takes its place, which has been visited.
type cursor struct {
	shard *shard
	end   int // guarded by the lock of the shard
}

// cursors returns a cursor for each shard.
func (set *streamSet) cursors() []cursor {
	cursors := make([]cursor, len(set.shards))
	for i := range set.shards {
		sh := &set.shards[i]
		sh.mu.Lock()
		cursors[i] = cursor{sh, len(sh.streams)}
		sh.mu.Unlock()
	}
	return cursors
}

// next returns a stream, or nil after the last one.
func (c *cursor) next() *stream {
	c.shard.mu.Lock()
	defer c.shard.mu.Unlock()
	c.end = min(c.end, len(c.shard.streams))
	if c.end == 0 {
		return nil
	}
	c.end--
	return c.shard.streams[c.end]
}

// left returns how many streams are not visited.
func (c *cursor) left() int {
	c.shard.mu.Lock()
	defer c.shard.mu.Unlock()
	return min(c.end, len(c.shard.streams))
}
