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

// Describe returns what the relay asks and holds of a name.
func (r *Relay) Describe(client capability.Client, t wire.Type, of string) (lines []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := r.names[nameKey{t, of, client}]
	if n == nil {
		return nil
	}
	for _, q := range n.questions {
		lines = append(lines, fmt.Sprintf("question %v asked %v verdict %d current %v", q.parameters.Values, q.asked, q.verdict, q.current))
	}
	if n.view != nil {
		for _, h := range n.view.variants {
			lines = append(lines, fmt.Sprintf("variant %s %q", h.predicate, h.variant.Resource.Body))
		}
	}
	slices.Sort(lines)
	return append(lines, fmt.Sprintf("queue %d batch %d repeated %v", len(n.queue), n.batch, n.repeated))
}

// SetMaxQuestions changes the limit on all questions. It is called before any is asked.
func (r *Relay) SetMaxQuestions(n int) { r.maxQuestions = n }
