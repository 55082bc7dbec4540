package laws

import "fmt"

// identity: the empty conf changes nothing on either side. What one conf is
// merged to is its normal form: duplicate keys are merged, nil elements gone.
func (s *suite[T, M, PT, PM]) identity(confs []*T) string {
	c, empty := confs[0], new(T)
	normal := s.merge(c).Conf()
	switch {
	case !same(s.merge(c, empty).Conf(), normal):
		return fmt.Sprintf("the empty conf on top of the first changes it to %s", renderOne(s.merge(c, empty).Conf()))
	case !same(s.merge(empty, c).Conf(), normal):
		return fmt.Sprintf("the empty conf below the first changes it to %s", renderOne(s.merge(empty, c).Conf()))
	case !same(s.merge(normal).Conf(), normal):
		return fmt.Sprintf("%s merged again is %s", renderOne(normal), renderOne(s.merge(normal).Conf()))
	}
	return ""
}

// prefix: the merge of the lowest items can stand for them.
func (s *suite[T, M, PT, PM]) prefix(confs []*T) string {
	want := s.merge(confs...).Conf()
	for n := range len(confs) + 1 {
		with := append([]*T{s.merge(confs[:n]...).Conf()}, confs[n:]...)
		if got := s.merge(with...).Conf(); !same(got, want) {
			return fmt.Sprintf("all together: %s\nthe lowest %d beforehand: %s", renderOne(want), n, renderOne(got))
		}
	}
	return ""
}

// associativity: any grouping gives the same.
func (s *suite[T, M, PT, PM]) associativity(confs []*T) string {
	want, got := s.merge(confs...).Conf(), s.group(confs)
	if !same(got, want) {
		return fmt.Sprintf("all together: %s\nin groups: %s", renderOne(want), renderOne(got))
	}
	return ""
}

// group merges neighbours until one conf is left.
func (s *suite[T, M, PT, PM]) group(confs []*T) *T {
	if len(confs) == 1 {
		return s.merge(confs[0]).Conf()
	}
	at := 1 + s.random.Intn(len(confs)-1)
	return s.merge(s.group(confs[:at]), s.group(confs[at:])).Conf()
}

// completeness: what comes after Fill has reported complete changes nothing,
// and a merge that is complete stays so.
func (s *suite[T, M, PT, PM]) completeness(confs []*T) string {
	m, stopped := PM(new(M)), PM(new(M))
	complete := false
	for i := len(confs) - 1; i >= 0; i-- {
		if !complete {
			stopped.Fill(confs[i], i)
		}
		now := m.Fill(confs[i], i)
		if complete && !now {
			return "Fill reported complete and then not"
		}
		complete = now
	}
	if !same(m.Conf(), stopped.Conf()) || !same(m.Origins(nil), stopped.Origins(nil)) {
		return fmt.Sprintf("a conf below a complete merge changed it from %s to %s", renderOne(stopped.Conf()), renderOne(m.Conf()))
	}
	return ""
}

// inputs: merging changes none of them.
func (s *suite[T, M, PT, PM]) inputs(confs []*T) string {
	before := make([]*T, len(confs))
	for i, c := range confs {
		before[i] = deepCopy(c)
	}
	s.merge(confs...)
	s.merge(append(confs[:len(confs):len(confs)], confs...)...)
	for i, c := range confs {
		if !same(c, before[i]) {
			return fmt.Sprintf("conf %d was changed from %s to %s", i, renderOne(before[i]), renderOne(c))
		}
	}
	return ""
}

// aliasing: results and clones share nothing that a later merge or a change of
// the other writes.
func (s *suite[T, M, PT, PM]) aliasing(confs []*T) string {
	result := s.merge(confs...).Conf()
	before := deepCopy(result)
	for _, later := range [][]*T{
		append([]*T{result}, s.random.confs()...),
		append(s.random.confs(), result),
		append(confs[:1:1], s.random.confs()...),
		append(s.random.confs(), confs...),
	} {
		s.merge(later...)
		if !same(result, before) {
			return fmt.Sprintf("a later merge changed the result from %s to %s", renderOne(before), renderOne(result))
		}
	}
	changeAll(PT(result).Clone(), s.random.Rand)
	if !same(result, before) {
		return fmt.Sprintf("changing a clone of the result changed it from %s to %s", renderOne(before), renderOne(result))
	}
	return ""
}
