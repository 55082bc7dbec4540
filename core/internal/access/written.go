package access

// Written is a set as a proxy writes it: a condition, or members. A search reads other forms of it,
// such as one expression for several conditions.
type Written struct {
	Condition any        // of [Requests.As], or an [UnknownCondition]; nil: of the members
	Members   []*Written // nil ones are not written
	All       bool       // all members must hold; otherwise at least one
	Negated   bool
}

// UnknownCondition is the condition of [Undetermined], by its name.
type UnknownCondition string

// As returns the set with the condition that it is written as.
func (s *Requests) As(condition any) *Requests {
	out := *s
	out.written = &Written{Condition: condition}
	return &out
}

// Written returns how a set is written; nil if it is made of others than those of [Requests.As].
func (s *Requests) Written() *Written {
	switch {
	case s == nil:
		return &Written{All: true}
	case s.written == nil && s.entry == nil && s.fact == nil && len(s.members) == 0:
		return &Written{All: s.all, Negated: s.negated}
	}
	return s.written
}

// writtenOf returns how members are written; nil if none of them is.
func writtenOf(all bool, sets []*Requests) *Written {
	var members []*Written
	for i, s := range sets {
		if s == nil && all {
			continue
		}
		if w := s.Written(); w != nil {
			if members == nil {
				members = make([]*Written, len(sets))
			}
			members[i] = w
		}
	}
	if members == nil {
		return nil
	}
	w := &Written{All: all}
	for i, s := range sets {
		if s != nil || !all {
			w.Members = append(w.Members, members[i])
		}
	}
	return w
}
