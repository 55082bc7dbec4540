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
func Shortest(in, out []Language, steps *int) (text string, ok bool, err error) {
	s := search{in: in, out: out, seen: map[string]bool{}}
	s.bytes = representatives(append(slices.Clone(in), out...))
	first := place{states: make([]int32, 0, len(in)+len(out)), parent: -1}
	for _, l := range append(slices.Clone(in), out...) {
		first.states = append(first.states, l.start())
	}
	s.add(first)
	for i := 0; i < len(s.places); i++ {
		if s.wanted(s.places[i].states) {
			return s.text(i), true, nil
		}
		if *steps -= len(s.bytes) * (len(in) + len(out)); *steps < 0 {
			return "", false, ErrTooLarge
		}
		for _, b := range s.bytes {
			s.add(s.after(i, b))
		}
	}
	return "", false, nil
}

// search is a search through the product of languages, breadth first.
type search struct {
	in, out []Language
	bytes   []byte // one of each class that no language distinguishes
	places  []place
	seen    map[string]bool // by the states
}

// place contains a state of each language, and the path of the search to it.
type place struct {
	states []int32 // of in, then of out
	parent int
	by     byte
}

func (s *search) after(i int, b byte) place {
	from := s.places[i].states
	next := place{states: make([]int32, len(from)), parent: i, by: b}
	for k, state := range from {
		if k < len(s.in) {
			next.states[k] = s.in[k].step(state, b)
		} else {
			next.states[k] = s.out[k-len(s.in)].step(state, b)
		}
	}
	return next
}

func (s *search) add(p place) {
	for k, l := range s.in {
		if l.hopeless(p.states[k]) {
			return
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
	for k, l := range s.in {
		if !l.accepts(states[k]) {
			return false
		}
	}
	for k, l := range s.out {
		if l.accepts(states[len(s.in)+k]) {
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
func representatives(languages []Language) []byte {
	var cuts [256]bool
	for _, l := range languages {
		l.cut(&cuts)
	}
	class, classOf := 0, [256]int{}
	for c := range classOf {
		if cuts[c] && c > 0 {
			class++
		}
		classOf[c] = class
	}
	taken := make([]bool, class+1)
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
