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

// each calls visit for all streams that are there from the beginning to the end of
// the call, and maybe for others. The lock is not held meanwhile. It goes backwards:
// where a stream goes, the last one takes its place, which has been visited.
func (sh *shard) each(visit func(*stream)) {
	var batch [64]*stream
	sh.mu.Lock()
	end := len(sh.streams)
	for {
		end = min(end, len(sh.streams))
		n := copy(batch[:], sh.streams[max(0, end-len(batch)):end])
		end -= n
		sh.mu.Unlock()
		if n == 0 {
			return
		}
		for i := n - 1; i >= 0; i-- {
			visit(batch[i])
		}
		sh.mu.Lock()
	}
}

// each is shard.each for all shards.
func (set *streamSet) each(visit func(*stream)) {
	for i := range set.shards {
		set.shards[i].each(visit)
	}
}
