package strict

import "sync"

// Strings contains each string of the documents of a load once: most of them,
// such as the keys and values of tags, repeat. It is safe for concurrent use;
// the zero Strings is ready to use.
type Strings struct {
	mu   sync.Mutex
	kept map[string]string
}

// maxKept is the length of the longest string that is looked up. Longer ones
// seldom repeat.
const maxKept = 128

func (s *Strings) keep(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if kept, found := s.kept[text]; found {
		return kept
	}
	if s.kept == nil {
		s.kept = map[string]string{}
	}
	s.kept[text] = text
	return text
}

// localStrings are the strings that one goroutine has looked up. They save the
// lock for all but the first use of a string.
type localStrings struct {
	shared *Strings
	local  map[string]string
}

func newLocalStrings(shared *Strings) *localStrings {
	return &localStrings{shared: shared, local: map[string]string{}}
}

// keep returns a string that does not refer to the text.
func (s *localStrings) keep(text []byte) string {
	if kept, found := s.local[string(text)]; found {
		return kept
	}
	return s.add(string(text))
}

// keepString is keep for a string that no text refers to.
func (s *localStrings) keepString(text string) string {
	if kept, found := s.local[text]; found {
		return kept
	}
	return s.add(text)
}

func (s *localStrings) add(text string) string {
	if len(text) > maxKept {
		return text
	}
	text = s.shared.keep(text)
	s.local[text] = text
	return text
}
