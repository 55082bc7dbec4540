package check

import (
	"hash/maphash"
	"iter"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/hashtable"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// workloads contains the distinct sets of tags of the inbounds and gateways of
// a mesh, which are the tags of its clients and endpoints. A selector is looked
// up by its rarest tag.
type workloads struct {
	all   []workload
	byTag map[resource.Tag][]int // indexes in all; AnyValue is for every value of the key
}

type workload struct {
	tags resource.Tags
	http bool // an HTTP inbound
}

func newWorkloads(dataplanes []*resource.Dataplane) *workloads {
	w := &workloads{byTag: map[resource.Tag][]int{}}
	var known hashtable.Table[int] // indexes in all
	seed := maphash.MakeSeed()
	add := func(tags resource.Tags, http bool) {
		hash := hashTags(seed, tags)
		same := func(i int) bool { return w.all[i].http == http && slices.Equal(w.all[i].tags, tags) }
		if _, found := known.Find(hash, same); found {
			return
		}
		known.Add(hash, len(w.all))
		for _, tag := range tags {
			w.byTag[tag] = append(w.byTag[tag], len(w.all))
			any := resource.Tag{Key: tag.Key, Value: resource.AnyValue}
			w.byTag[any] = append(w.byTag[any], len(w.all))
		}
		w.all = append(w.all, workload{tags, http})
	}
	for _, d := range dataplanes {
		if d.Gateway != nil {
			add(d.Gateway.Tags, false)
		}
		for i := range d.Inbounds {
			add(d.Inbounds[i].Tags, request.ProtocolOf(d, i) == request.HTTP)
		}
	}
	return w
}

func hashTags(seed maphash.Seed, tags resource.Tags) (hash uint64) {
	const prime = 0x9e37_79b9_7f4a_7c15
	for _, tag := range tags {
		hash = (hash ^ maphash.String(seed, tag.Key)) * prime
		hash = (hash ^ maphash.String(seed, tag.Value)) * prime
	}
	return hash
}

// with yields the workloads that have all tags of a selector.
func (w *workloads) with(selector resource.Tags) iter.Seq[*workload] {
	return func(yield func(*workload) bool) {
		if len(selector) == 0 {
			for i := range w.all {
				if !yield(&w.all[i]) {
					return
				}
			}
			return
		}
		fewest := w.byTag[selector[0]]
		for _, tag := range selector[1:] {
			if list := w.byTag[tag]; len(list) < len(fewest) {
				fewest = list
			}
		}
		for _, i := range fewest {
			if w.all[i].tags.Contains(selector) && !yield(&w.all[i]) {
				return
			}
		}
	}
}
