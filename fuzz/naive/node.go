package naive

// node is a part of a conf during merging: its content, the rule of SPEC 6 by which it
// merges, and the item that set it. A nil node is not set. A node is immutable after
// construction.
type node struct {
	shape shape
	item  int // the last item that set it

	value  any              // of a leaf, as JSON
	word   string           // the type of a union
	fields map[string]*node // of an object, a union or a map
	elems  []*node          // of a list that is concatenated or merged by key
	key    *elementKey      // of an element that merges by key
	always bool             // an object that cannot be absent
	zero   bool             // a leaf that is the zero value of its Go type
	hides  bool             // zero is omitted from the output: json:",omitzero"
	unset  map[string]any   // of an object: the output of fields that appear even if they are not set

	highestFirst bool // a keyed list in which the elements of high are before the elements of low
}

type shape int

// The rows of SPEC 6.
const (
	leaf     shape = iota // replaced as a whole: a scalar, a list, an opaque value
	object                // field by field
	union                 // another type drops the old arm
	mapping               // by key
	appended              // concatenated in order
	keyed                 // elements with equal keys are merged
)

// merge returns low overridden by high. low is nil or the result of a merge, high is the
// tree of one conf.
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
	case keyed: // all elements in order; the elements of high are not merged yet
		merged.elems = byKey(join(low.elems, high.elems))
		if high.highestFirst { // each element of high is after those of low, so they are the last ones
			others := len(merged.elems) - len(byKey(high.elems))
			merged.elems = join(merged.elems[others:], merged.elems[:others])
		}
	}
	return &merged
}

// alone returns the merge of high alone, which merges elements of a list that have
// equal keys.
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

// byKey merges the elements with equal keys, at the position of the last of them.
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
