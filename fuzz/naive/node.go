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

// merge returns low, which is a result of merging or nil, overridden by high,
// which is as it was read.
func merge(low, high *node) *node {
	switch {
	case low == nil:
		return alone(high)
	case high == nil:
		return low
	}
	merged := *alone(high)
	switch high.shape {
	case union:
		if low.word == high.word {
			merged.fields = mergeFields(low.fields, high.fields)
		}
	case object, mapping:
		merged.fields = mergeFields(low.fields, high.fields)
	case appended:
		merged.elems = join(low.elems, merged.elems)
	case keyed: // all elements in order: those of high are not merged before
		merged.elems = byKey(join(low.elems, high.elems))
	}
	return &merged
}

// alone returns high merged with nothing: elements of one list may have an
// equal key.
func alone(high *node) *node {
	merged := *high
	merged.fields = mergeFields(nil, high.fields)
	merged.elems = nil
	switch high.shape {
	case appended:
		for _, elem := range high.elems {
			merged.elems = append(merged.elems, alone(elem))
		}
	case keyed:
		merged.elems = byKey(high.elems)
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
		var before *node
		for i, m := range merged {
			if m.key.equal(elem.key) {
				before = m
				merged = append(merged[:i], merged[i+1:]...)
				break
			}
		}
		merged = append(merged, merge(before, elem))
	}
	return merged
}
