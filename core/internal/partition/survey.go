package partition

import "slices"

// firstSurvey is the number of rules after which a search makes its first survey.
const firstSurvey = 256

// A survey reports early that a search will find more rules than its limit. The search
// is depth-first, so it finds its last rules after almost all of its work. A survey
// starts at the root and enters only a few levels of branches. Each branch leads to at
// least one rule of its own, so the number of branches is a lower bound for the number
// of rules.
//
// A search makes a survey when it has found 256 rules, and again each time that this
// number has doubled. A survey deepens level by level. It takes at most as many steps
// as the search took before it, so surveys at most double the work.
type survey struct {
	next   int  // the number of rules at which the search makes a survey; 0 in a survey
	levels int  // the number of levels of branches to enter below the position
	cut    bool // a branch was counted but not entered
}

// count adds a rule, or a branch that is not entered, and reports whether the search may
// continue.
func (s *search) count() bool {
	s.found++
	if s.found == s.survey.next {
		s.survey.next *= 2
		s.surveyAll()
	}
	return s.allow(s.found)
}

// surveyAll exceeds the limit on rules if the search will do so.
func (s *search) surveyAll() {
	left := s.work
	for levels := 0; left > 0; levels++ {
		few := s.newSurvey(levels, Limits{Rules: s.limits.Rules, Work: left})
		few.descend(few.everything(), nothing)
		s.allow(few.found)
		if !few.survey.cut || s.exceeded != "" {
			return
		}
		left -= few.work
	}
}

// newSurvey returns a search of the same items that counts rules.
func (s *search) newSurvey(levels int, limits Limits) *search {
	few := &search{
		budget:   newBudget(limits),
		domain:   s.domain,
		add:      s.add,
		complete: s.complete,
		items:    s.items,
		byKey:    s.byKey,
		missing:  make([]int32, len(s.items)),
		refused:  make([]bool, len(s.items)),
		has:      slices.Repeat([]int32{noValue}, len(s.has)),
		survey:   survey{levels: levels},
	}
	for i, tags := range s.items {
		few.missing[i] = int32(len(tags))
	}
	return few
}
