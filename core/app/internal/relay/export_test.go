package relay

import (
	"fmt"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/xds/capability"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

// ReadCache reads the file of a cache.
func ReadCache(path string) error {
	_, err := readFile(path)
	return err
}

// Describe returns the subscriptions and the variants of a name.
func (r *Relay) Describe(client capability.Client, t wire.Type, of string) (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.names[nameKey{t, of, client}]
	if n == nil {
		return nil
	}
	for _, sub := range n.subscriptions {
		lines = append(lines, fmt.Sprintf("subscription %v requested %v verdict %d current %v", sub.parameters.Values, sub.requested, sub.verdict, sub.current))
	}
	if n.view != nil {
		for _, h := range n.view.variants {
			lines = append(lines, fmt.Sprintf("variant %s %q", h.predicate, h.variant.Resource.Body))
		}
	}
	slices.Sort(lines)
	return append(lines, fmt.Sprintf("queue %d batch %d resubscribed %v", len(n.queue), n.batch, n.resubscribed))
}

// SetMaxSubscriptions changes the limit on all subscriptions. It is called before there is any.
func (r *Relay) SetMaxSubscriptions(n int) { r.maxSubscriptions = n }
