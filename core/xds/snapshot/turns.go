package snapshot

import "sync"

// turns lets one caller at a time build the value of a key. The zero value is ready. It
// is safe for concurrent use, and must not be copied.
type turns[K comparable] struct {
	mu    sync.Mutex
	ended map[K]chan struct{} // of the keys that a caller builds
}

// take returns true if the caller may build the value of a key, and must call end then.
// If another one builds it, take waits for that and returns false.
func (t *turns[K]) take(key K) bool {
	t.mu.Lock()
	ended, busy := t.ended[key]
	if busy {
		t.mu.Unlock()
		<-ended
		return false
	}
	defer t.mu.Unlock()
	if t.ended == nil {
		t.ended = map[K]chan struct{}{}
	}
	t.ended[key] = make(chan struct{})
	return true
}

// end ends the turn of a key.
func (t *turns[K]) end(key K) {
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.ended[key])
	delete(t.ended, key)
}
