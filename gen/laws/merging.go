package laws

import (
	"fmt"
	"slices"
)

// identity: the empty conf changes nothing on either side. A single conf is
// merged to its normal form: elements with equal keys are merged, nil elements
// are omitted.
func (t Type[C]) identity(confs []C) error {
	c, empty := confs[0], t.empty()
	normal := t.merge(c).Conf()
	for _, other := range []struct {
		how   string
		confs []C
	}{
		{"the empty conf on top of the first", []C{c, empty}},
		{"the empty conf below the first", []C{empty, c}},
		{"a second merge of the first", []C{normal}},
	} {
		if got := t.merge(other.confs...).Conf(); !same(got, normal) {
			return fmt.Errorf("%s changes it from %s to %s", other.how, text(normal), text(got))
		}
	}
	return nil
}

// prefix: the merge of the lowest confs can replace them.
func (t Type[C]) prefix(confs []C) error {
	want := t.merge(confs...).Conf()
	for n := range len(confs) + 1 {
		with := append([]C{t.merge(confs[:n]...).Conf()}, confs[n:]...)
		if got := t.merge(with...).Conf(); !same(got, want) {
			return fmt.Errorf("all together: %s\nthe lowest %d beforehand: %s", text(want), n, text(got))
		}
	}
	return nil
}

// associativity: at each cut of the sequence, the merge of the merges of both parts
// is the merge of the whole. This also holds for the parts, so any grouping gives
// the same result.
func (t Type[C]) associativity(confs []C) error {
	want := t.merge(confs...).Conf()
	for n := 1; n < len(confs); n++ {
		if got := t.merge(t.merge(confs[:n]...).Conf(), t.merge(confs[n:]...).Conf()).Conf(); !same(got, want) {
			return fmt.Errorf("all together: %s\nin groups, the lowest %d and the others: %s", text(want), n, text(got))
		}
	}
	return nil
}

// completeness: a conf below a complete merge changes nothing, and the merge remains
// complete.
func (t Type[C]) completeness(confs []C) error {
	m, stopped := t.NewMerger(), t.NewMerger()
	complete := false
	for i := len(confs) - 1; i >= 0; i-- {
		if !complete {
			stopped.Fill(confs[i], i)
		}
		now := m.Fill(confs[i], i)
		if complete && !now {
			return fmt.Errorf("at item %d Fill no longer reports complete", i)
		}
		complete = now
	}
	if !same(m.Conf(), stopped.Conf()) || !same(m.Origins(nil), stopped.Origins(nil)) {
		return fmt.Errorf("a conf below a complete merge changed it from %s to %s", text(stopped.Conf()), text(m.Conf()))
	}
	return nil
}

// inputs: merging changes no input.
func (t Type[C]) inputs(confs []C) error {
	before := copies(confs)
	t.merge(confs...)
	t.merge(append(slices.Clone(confs), confs...)...)
	for i, c := range confs {
		if !same(c, before[i]) {
			return fmt.Errorf("conf %d was changed from %s to %s", i, text(before[i]), text(c))
		}
	}
	return nil
}

// aliasing: a result shares no memory that a later merge or a change of a clone
// writes.
func (t Type[C]) aliasing(confs []C) error {
	result := t.merge(confs...).Conf()
	before := deepCopy(result)
	reversed := slices.Clone(confs)
	slices.Reverse(reversed)
	for _, later := range [][]C{
		append([]C{result}, confs...),
		append(slices.Clone(confs), result),
		append(slices.Clone(confs[:1]), reversed...),
		append(slices.Clone(reversed), confs...),
	} {
		t.merge(later...)
		if !same(result, before) {
			return fmt.Errorf("a later merge changed the result from %s to %s", text(before), text(result))
		}
	}
	if clone, ok := cloneOf(result); ok {
		changeAll(clone)
		if !same(result, before) {
			return fmt.Errorf("changing a clone of the result changed it from %s to %s", text(before), text(result))
		}
	}
	return nil
}
