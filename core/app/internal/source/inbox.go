package source

import (
	"context"
	"sync"
	"time"
)

// inbox passes what a store yields to the goroutine that decodes it. It has its own
// goroutine on the other side. So a store is read while earlier objects are decoded and
// applied, and events that came in this time are one batch.
type inbox struct {
	arrived chan struct{} // holds a value while there is news
	room    chan struct{} // holds a value after news were taken

	mu    sync.Mutex
	news  []news
	bytes int
}

// news is a page, or the error after which the store is read again.
type news struct {
	page *Page
	at   time.Time
	err  error
}

// maxInbox is the number of bytes of documents after which a store is not read further.
// It bounds the memory of a list.
const maxInbox = 8 << 20

// put adds news. It waits while there is no room, until the context ends.
func (b *inbox) put(ctx context.Context, n news) {
	size := n.size()
	for {
		b.mu.Lock()
		if len(b.news) == 0 || b.bytes+size <= maxInbox {
			b.news = append(b.news, n)
			b.bytes += size
			b.mu.Unlock()
			signal(b.arrived)
			return
		}
		b.mu.Unlock()
		select {
		case <-b.room:
		case <-ctx.Done():
			return
		}
	}
}

// take returns all news, in order; none if there are none.
func (b *inbox) take() []news {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.news
	b.news, b.bytes = nil, 0
	signal(b.room)
	return all
}

func (n *news) size() int {
	const overhead = 200 // of an object
	size := overhead
	if n.page != nil {
		for i := range n.page.Objects {
			size += len(n.page.Objects[i].Data) + overhead
		}
	}
	return size
}

// signal makes a channel hold a value.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
