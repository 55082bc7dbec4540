package partition

import (
	"encoding/binary"
	"slices"
)

// join merges paths that have the same content and differ at one key only, if one
// selector can select the clients of both. The host is a path with "any other value" at
// the key. It takes in its guests: a path with a value that it excludes, and the path
// without the key. Paths are disjoint, so a guest has at most one host at a key. The
// result of a pass does not depend on the order within the pass. Passes over the keys
// are repeated until none changes anything; at least every other round removes a path.
//
// This only saves rules; SPEC 5.4 holds without it. If the work limit is reached, join
// stops, and the paths are still correct.
func (w *pathWalk) join(contents int) {
	if w.exceeded != "" {
		return
	}
	j := newJoiner(w.paths, contents, w.limits.Work-w.work)
	for again := true; again; {
		again = false
		for key := range w.domain.keys {
			if j.candidates == 0 || j.left < 0 {
				break
			}
			again = j.pass(int32(key)) || again
		}
	}
	kept := w.paths[:0]
	for i := range j.paths {
		if !j.removed[i] {
			kept = append(kept, j.paths[i])
		}
	}
	w.paths = kept
}

type joiner struct {
	paths      []path
	removed    []bool
	twins      []bool // paths that shared their content with another path at the start
	candidates int    // number of twins
	left       int    // steps
	buffer     []byte
}

func newJoiner(paths []path, contents, left int) *joiner {
	count := make([]int, contents)
	for i := range paths {
		count[paths[i].content]++
	}
	j := &joiner{paths: paths, removed: make([]bool, len(paths)), twins: make([]bool, len(paths)), left: left}
	for i := range paths {
		if count[paths[i].content] > 1 {
			j.twins[i] = true
			j.candidates++
		}
	}
	return j
}

// pass joins paths that differ at one key and reports whether it joined any.
func (j *joiner) pass(key int32) bool {
	hosts := make(map[string]int) // by the rest of the path
	for i := range j.paths {
		if at := j.candidate(i, key); at >= 0 && leavesOthers(j.paths[i].conditions[at].kind) {
			hosts[string(j.rest(i, at))] = i
		}
	}
	if len(hosts) == 0 {
		return false
	}
	joined := false
	for i := range j.paths {
		at := j.candidate(i, key)
		if at < 0 || leavesOthers(j.paths[i].conditions[at].kind) {
			continue
		}
		host, ok := hosts[string(j.rest(i, at))]
		if !ok {
			continue
		}
		conditions := j.paths[host].conditions
		conditions[indexKey(conditions, key)].takeIn(j.paths[i].conditions[at])
		j.removed[i] = true
		joined = true
	}
	if !joined {
		return false
	}
	for _, host := range hosts {
		conditions := j.paths[host].conditions
		at := indexKey(conditions, key)
		if conditions[at].kind == IsNot && len(conditions[at].not) == 0 {
			j.paths[host].conditions = slices.Delete(conditions, at, at+1)
		}
	}
	return true
}

// candidate returns the index of path i's condition on the key, or -1 if it has
// none or cannot be joined with anything.
func (j *joiner) candidate(i int, key int32) int {
	j.left--
	if !j.twins[i] || j.removed[i] {
		return -1
	}
	return indexKey(j.paths[i].conditions, key)
}

func indexKey(conditions []condition, key int32) int {
	return slices.IndexFunc(conditions, func(a condition) bool { return a.key == key })
}

func leavesOthers(kind Kind) bool { return kind == Exists || kind == IsNot }

// takeIn widens a, which includes other values, by the condition of a guest.
func (a *condition) takeIn(guest condition) {
	if guest.kind == Absent {
		a.kind = IsNot
		return
	}
	a.not = slices.DeleteFunc(slices.Clone(a.not), func(value uint32) bool { return value == guest.value })
}

// rest encodes everything except one condition of a path. The bytes are valid until
// the next call.
func (j *joiner) rest(i, at int) []byte {
	path := &j.paths[i]
	b := binary.AppendUvarint(j.buffer[:0], uint64(path.content))
	for k := range path.conditions {
		if k == at {
			continue
		}
		a := &path.conditions[k]
		b = binary.AppendUvarint(b, uint64(a.key))
		b = append(b, byte(a.kind))
		b = binary.AppendUvarint(b, uint64(a.value))
		b = binary.AppendUvarint(b, uint64(len(a.not)))
		for _, value := range a.not {
			b = binary.AppendUvarint(b, uint64(value))
		}
	}
	j.buffer = b
	j.left -= len(b) / 4
	return b
}
