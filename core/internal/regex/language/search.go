package language

import (
	"encoding/binary"
	"errors"
	"slices"
)

// ErrTooLarge indicates that a search needs more steps than its limit.
var ErrTooLarge = errors.New("the regular expressions need too many states together")

// Shortest returns a shortest text that is in all languages of in and in none of out. If
// there is none, ok is false. A step moves one language by one byte. Shortest takes at
// most the given number of steps and subtracts the steps that it took; the error is
// [ErrTooLarge].
//
// A language is moved until it is known for all longer texts. So of many expressions that
// begin with different literals, few are moved at once.
func Shortest(in, out []Language, steps *int) (text string, ok bool, err error) {
	s := search{languages: append(slices.Clone(in), out...), in: len(in), seen: map[string]bool{}, bytes: map[bytes][]byte{}}
	first := place{states: make([]int32, 0, len(in)+len(out)), parent: -1}
	for _, l := range s.languages {
		first.states = append(first.states, l.start())
	}
	s.add(first)
	for i := 0; i < len(s.places); i++ {
		if s.wanted(s.places[i].states) {
			return s.text(i), true, nil
		}
		var cuts bytes
		moved := 0
		for k, state := range s.places[i].states {
			if state != known {
				s.languages[k].cut(state, &cuts)
				moved++
			}
		}
		next := s.bytes[cuts]
		if next == nil {
			next = representatives(&cuts)
			s.bytes[cuts] = next
		}
		if *steps -= len(next) * max(moved, 1); *steps < 0 {
			return "", false, ErrTooLarge
		}
		for _, b := range next {
			s.add(s.after(i, b))
		}
	}
	return "", false, nil
}

// search is a search through the product of languages, breadth first.
type search struct {
	languages []Language // that contain the text, then those that do not
	in        int        // the number of languages that contain it
	bytes     map[bytes][]byte
	places    []place
	seen      map[string]bool // by the states
}

// place contains a state of each language, and the path of the search to it.
type place struct {
	states []int32 // known: what the search wants of the language is true of all longer texts
	parent int
	by     byte
}

const known = -1

func (s *search) after(i int, b byte) place {
	from := s.places[i].states
	next := place{states: make([]int32, len(from)), parent: i, by: b}
	for k, state := range from {
		if next.states[k] = known; state != known {
			next.states[k] = s.languages[k].step(state, b)
		}
	}
	return next
}

// add adds a place, unless it is known or leads to no text.
func (s *search) add(p place) {
	for k, state := range p.states {
		if state == known {
			continue
		}
		l, wanted := s.languages[k], k < s.in
		switch {
		case l.hopeless(state) && wanted || l.certain(state) && !wanted:
			return
		case l.hopeless(state) || l.certain(state):
			p.states[k] = known
		}
	}
	key := make([]byte, 0, 4*len(p.states))
	for _, state := range p.states {
		key = binary.LittleEndian.AppendUint32(key, uint32(state))
	}
	if !s.seen[string(key)] {
		s.seen[string(key)] = true
		s.places = append(s.places, p)
	}
}

func (s *search) wanted(states []int32) bool {
	for k, state := range states {
		if state != known && s.languages[k].accepts(state) != (k < s.in) {
			return false
		}
	}
	return true
}

func (s *search) text(i int) string {
	var text []byte
	for ; s.places[i].parent >= 0; i = s.places[i].parent {
		text = append(text, s.places[i].by)
	}
	slices.Reverse(text)
	return string(text)
}

// representatives returns a byte of each class, the most readable bytes first.
func representatives(cuts *bytes) []byte {
	classOf, n := cuts.classes()
	taken := make([]bool, n)
	var out []byte
	for _, b := range byReadability {
		if !taken[classOf[b]] {
			taken[classOf[b]] = true
			out = append(out, b)
		}
	}
	return out
}

// byReadability contains all bytes: letters, digits, other printable bytes, then
// the rest.
var byReadability = func() []byte {
	var out []byte
	for _, r := range [][2]int{{'a', 'z'}, {'0', '9'}, {'A', 'Z'}, {'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}, {' ', ' '}, {0x80, 0xff}, {0, 0x1f}, {0x7f, 0x7f}} {
		for c := r[0]; c <= r[1]; c++ {
			out = append(out, byte(c))
		}
	}
	return out
}()
