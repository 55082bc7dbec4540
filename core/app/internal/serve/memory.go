package serve

import (
	"context"
	"runtime/debug"
	runtimemetrics "runtime/metrics"
	"time"

	"github.com/meshmatch/meshmatch/core/xds/server"
)

// memoryInterval is how often memory is looked at: what a flood took is back within a minute.
const memoryInterval = 20 * time.Second

// muchMemory is how much more than before is worth a collection, and so is the end of
// manySubscriptions.
const (
	muchMemory        = 32 << 20
	manySubscriptions = 10_000
)

// returnMemory returns memory to the system when much of it was freed, until the context ends.
// Without it, what a flood took stays until the runtime collects by itself, after two minutes.
func returnMemory(ctx context.Context, counters *server.Counters, source server.Source) {
	ticker := time.NewTicker(memoryInterval)
	defer ticker.Stop()
	var m memory
	_, superseded := source.Current() // the channel alone is kept: it holds no state
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			subscriptions := int64(0)
			for t := range counters.Subscriptions {
				subscriptions += counters.Subscriptions[t].Load()
			}
			changed := false
			select {
			case <-superseded:
				changed = true
				_, superseded = source.Current()
			default:
			}
			m.step(subscriptions, changed)
		}
	}
}

// memory is the heap that was live when it was looked at before, and the most subscriptions since
// the last collection. A heap that has grown may be garbage by now, which only a collection shows;
// it is made for each growth. A heap that has grown before may be garbage when streams have
// ended, or when files or requests are no longer read: nothing is allocated after a flood, so the
// runtime does not collect. So the end of many subscriptions causes a collection, and so does the end of
// all work: the runtime had collected, or another state was served, and neither is so any more. What the
// streams had may be in use a while longer, such as by the upstream stream of a relay, so the next look
// collects again.
type memory struct {
	live        uint64
	most        int64
	again       bool
	collections uint64 // at the last look
	busy        bool   // at the last look there was work since the one before it
}

// step is a look. Changed says that another state is served than at the last one.
func (m *memory) step(subscriptions int64, changed bool) (returned bool) {
	live, free, collections := readMemory()
	m.most = max(m.most, subscriptions)
	busy := collections > m.collections || changed
	ends := m.busy && !busy && live > muchMemory
	if m.again || live > m.live+m.live/2+muchMemory || free > live && free > muchMemory || m.most-subscriptions >= manySubscriptions || ends {
		debug.FreeOSMemory()
		live, _, collections = readMemory()
		m.most, m.again, returned = subscriptions, !m.again, true
	}
	m.live, m.collections, m.busy = live, collections, busy
	return returned
}

// readMemory returns the heap that was live at the last collection, and the part of the heap that
// is free and not returned to the system. Collections is the number of collections.
func readMemory() (live, free, collections uint64) {
	samples := []runtimemetrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/free:bytes"}, {Name: "/gc/cycles/total:gc-cycles"}}
	runtimemetrics.Read(samples)
	return samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64()
}
