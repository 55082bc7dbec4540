package laws

import "fmt"

// equality: Equal agrees with an independent comparison.
func (s *suite[T, M, PT, PM]) equality(confs []*T) string {
	for _, c := range append(confs[:len(confs):len(confs)], s.merge(confs...).Conf()) {
		copied := deepCopy(c)
		if !PT(c).Equal(copied) || !PT(copied).Equal(c) || !PT(c).Equal(c) {
			return fmt.Sprintf("%s does not equal a copy of itself", renderOne(c))
		}
		if PT(c).Equal(nil) {
			return fmt.Sprintf("%s equals nil", renderOne(c))
		}
		if change(copied, s.random.Rand) && (PT(c).Equal(copied) || PT(copied).Equal(c)) {
			return fmt.Sprintf("%s equals %s", renderOne(c), renderOne(copied))
		}
	}
	return ""
}

// hash: equal confs have equal hashes, whatever the order in maps; a changed
// leaf shows.
func (s *suite[T, M, PT, PM]) hash(confs []*T) string {
	for _, c := range append(confs[:len(confs):len(confs)], s.merge(confs...).Conf()) {
		want := PT(c).Hash()
		for range 4 {
			if copied := deepCopy(c); PT(copied).Hash() != want {
				return fmt.Sprintf("%s and a copy have different hashes", renderOne(c))
			}
		}
		copied := deepCopy(c)
		if change(copied, s.random.Rand) && PT(copied).Hash() == want {
			return fmt.Sprintf("%s and %s have the same hash", renderOne(c), renderOne(copied))
		}
	}
	return ""
}

// clone: equal and disjoint.
func (s *suite[T, M, PT, PM]) clone(confs []*T) string {
	for _, c := range append(confs[:len(confs):len(confs)], s.merge(confs...).Conf()) {
		clone := PT(c).Clone()
		if !same(clone, c) {
			return fmt.Sprintf("the clone of %s is %s", renderOne(c), renderOne(clone))
		}
		if path := shared(c, clone); path != "" {
			return fmt.Sprintf("%s is shared by %s and its clone", path, renderOne(c))
		}
	}
	return ""
}
