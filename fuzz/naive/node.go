package naive

// node is a part of a conf while it is merged: what is there, by which rule of
// SPEC 6 it merges, and the item that set it. A nil node is not set.
// Nodes are never written to once they are read.
type node struct {
	shape shape
	item  int // the last one that set it

	value  any              // of a leaf, as JSON
	word   string           // of a union, its type
	fields map[string]*node // of an object, a union or a map
	elems  []*node          // of a list that is concatenated or merged by key
	key    *elementKey      // of an element that merges by key
	always bool             // an object that can not be absent: its presence says nothing
	zero   bool             // a leaf that is the zero value of its Go type
	hides  bool             // zero is not printed: json:",omitzero"
	unset  map[string]any   // of an object: what a field that is not set prints as, where it prints
}

type shape int

// The rows of SPEC 6.
const (
	leaf     shape = iota // replaced whole: a scalar, a list, an opaque value
	object                // field by field
	union                 // another type drops the old arm
	mapping               // by key
	appended              // concatenated in order
	keyed                 // elements with an equal key are merged
)

// merge returns low overridden by high.
func merge(low, high *node) *node {
	switch {
	case low == nil:
		return high
	case high == nil:
		return low
	}
	merged := *high
	switch high.shape {
	case union:
		if low.word == high.word {
			merged.fields = mergeFields(low.fields, high.fields)
		}
	case object, mapping:
		merged.fields = mergeFields(low.fields, high.fields)
	case appended:
		merged.elems = join(low.elems, high.elems)
	case keyed:
		merged.elems = byKey(join(low.elems, high.elems))
	}
	return &merged
}

func mergeFields(low, high map[string]*node) map[string]*node {
	merged := map[string]*node{}
	for name := range low {
		merged[name] = merge(low[name], high[name])
	}
	for name := range high {
		merged[name] = merge(low[name], high[name])
	}
	return merged
}

func join(low, high []*node) []*node {
	joined := []*node{}
	joined = append(joined, low...)
	return append(joined, high...)
}

// byKey merges the elements with an equal key; each stands where the last of
// them stood.
func byKey(elems []*node) []*node {
	merged := []*node{}
	for _, elem := range elems {
		for i, before := range merged {
			if before.key.equal(elem.key) {
				merged = append(merged[:i], merged[i+1:]...)
				elem = merge(before, elem)
				break
			}
		}
		merged = append(merged, elem)
	}
	return merged
}
