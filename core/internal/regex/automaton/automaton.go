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
	a := &Automaton{classes: classesOf(program)}
	dfa := regex.NewDFA(program)
	for s := int32(0); int(s) < dfa.Len(); s++ {
		if dfa.Len() > maxStates {
			return nil, ErrTooLarge
		}
		next := make([]int, len(a.classes))
		for c := range a.classes {
			next[c] = int(dfa.Step(s, a.classes[c].first))
		}
		a.next, a.accepts = append(a.next, next), append(a.accepts, dfa.Accepts(s))
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
			key := binary.LittleEndian.AppendUint32(nil, uint32(group[s]))
			for _, n := range a.next[s] {
				key = binary.LittleEndian.AppendUint32(key, uint32(group[n]))
			}
			g, ok := known[string(key)]
			if !ok {
				g = len(known)
				known[string(key)] = g
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
