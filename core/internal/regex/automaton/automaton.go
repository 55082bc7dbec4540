package automaton

import (
	"encoding/binary"
	"errors"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/core/internal/regex"
)

const (
	maxStates = 2000
	maxBytes  = 16 << 10 // the maximum length of an expression
)

var (
	// ErrTooLarge indicates that a language needs an automaton or expression that
	// exceeds the limits of this package.
	ErrTooLarge = errors.New("it needs a larger expression than the limit")
	// ErrAssertion indicates an expression with an assertion about words or lines.
	ErrAssertion = errors.New("it has an assertion about words or lines")
)

// An Automaton is the set of texts that expressions match. It is immutable.
type Automaton struct {
	classes []span // of runes that no state distinguishes, in the order of runes
	start   int
	accepts []bool  // by state
	next    [][]int // by state and class
}

// span is a range of runes.
type span struct{ first, last rune }

// New returns the automaton of the texts in which at least one of the expressions is
// found. The error for an assertion about words or lines is an [ErrAssertion].
func New(expressions ...string) (*Automaton, error) {
	program, err := regex.Compile(`(?s:.*)(?:` + strings.Join(expressions, `|`) + `)(?s:.*)`)
	if err != nil {
		return nil, err
	}
	if regex.Asserts(program) {
		return nil, ErrAssertion
	}
	b := &builder{program: program, known: map[string]int{}, automaton: &Automaton{classes: classesOf(program)}}
	b.state(regex.Closure(b.program, []uint32{uint32(program.Start)}, syntax.EmptyBeginText), syntax.EmptyBeginText)
	a := b.automaton
	for s := 0; s < len(b.sets); s++ {
		if len(b.sets) > maxStates {
			return nil, ErrTooLarge
		}
		for c := range a.classes {
			a.next[s][c] = b.state(b.step(b.sets[s], a.classes[c].first), 0)
		}
	}
	return a.minimal(), nil
}

// classesOf divides all runes where an instruction distinguishes them.
func classesOf(program *syntax.Prog) []span {
	cuts := []rune{0}
	for i := range program.Inst {
		inst := &program.Inst[i]
		switch inst.Op {
		case syntax.InstRune1, syntax.InstRune:
			runes := inst.Rune
			if len(runes) == 1 { // it may fold letters
				for _, r := range foldsOf(inst, runes[0]) {
					cuts = append(cuts, r, r+1)
				}
				continue
			}
			for k := 0; k < len(runes); k += 2 {
				cuts = append(cuts, runes[k], runes[k+1]+1)
			}
		case syntax.InstRuneAnyNotNL:
			cuts = append(cuts, '\n', '\n'+1)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var classes []span
	for i, first := range cuts {
		last := rune(utf8.MaxRune)
		if i+1 < len(cuts) {
			last = cuts[i+1] - 1
		}
		if first <= last {
			classes = append(classes, span{first, last})
		}
	}
	return classes
}

// foldsOf returns the runes that an instruction with a single rune matches.
func foldsOf(inst *syntax.Inst, r rune) []rune {
	folds := []rune{r}
	if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
		for next := simpleFold(r); next != r; next = simpleFold(next) {
			folds = append(folds, next)
		}
	}
	return folds
}

// builder makes states from sets of instructions.
type builder struct {
	program   *syntax.Prog
	sets      [][]uint32
	known     map[string]int
	automaton *Automaton
}

// state returns the state of a sorted set, in a place where the given
// assertions hold.
func (b *builder) state(set []uint32, holds syntax.EmptyOp) int {
	key := keyOf(append([]uint32{uint32(holds)}, set...))
	if s, ok := b.known[key]; ok {
		return s
	}
	s := len(b.sets)
	b.known[key] = s
	b.sets = append(b.sets, set)
	a := b.automaton
	a.next = append(a.next, make([]int, len(a.classes)))
	accepts := false
	for _, pc := range regex.Closure(b.program, set, holds|syntax.EmptyEndText) {
		accepts = accepts || b.program.Inst[pc].Op == syntax.InstMatch
	}
	a.accepts = append(a.accepts, accepts)
	return s
}

func keyOf(numbers []uint32) string {
	var key []byte
	for _, n := range numbers {
		key = binary.LittleEndian.AppendUint32(key, n)
	}
	return string(key)
}

// step returns the set after a rune.
func (b *builder) step(set []uint32, r rune) []uint32 {
	var out []uint32
	for _, pc := range set {
		if inst := &b.program.Inst[pc]; inst.MatchRune(r) { // no other instruction has runes
			out = append(out, inst.Out)
		}
	}
	return regex.Closure(b.program, out, 0)
}

// minimal merges the states that accept the same texts (Moore's algorithm).
func (a *Automaton) minimal() *Automaton {
	group := make([]int, len(a.accepts))
	for s, accepts := range a.accepts {
		if accepts {
			group[s] = 1
		}
	}
	for count := 0; ; {
		known := map[string]int{}
		next := make([]int, len(group))
		for s := range group {
			to := []uint32{uint32(group[s])}
			for _, n := range a.next[s] {
				to = append(to, uint32(group[n]))
			}
			key := keyOf(to)
			g, ok := known[key]
			if !ok {
				g = len(known)
				known[key] = g
			}
			next[s] = g
		}
		group = next
		if len(known) == count {
			break
		}
		count = len(known)
	}
	m := &Automaton{classes: a.classes, start: group[a.start], accepts: make([]bool, slices.Max(group)+1)}
	m.next = make([][]int, len(m.accepts))
	for s, g := range group {
		m.accepts[g] = a.accepts[s]
		if m.next[g] == nil {
			for _, n := range a.next[s] {
				m.next[g] = append(m.next[g], group[n])
			}
		}
	}
	return m
}

// Complement returns the automaton of all other texts.
func (a *Automaton) Complement() *Automaton {
	b := *a
	b.accepts = make([]bool, len(a.accepts))
	for s, accepts := range a.accepts {
		b.accepts[s] = !accepts
	}
	return &b
}
