package regex

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// A DFA makes the states of the deterministic automaton of a program on demand. State 0 is the one
// before a text. A DFA is for one goroutine.
type DFA struct {
	program *syntax.Prog
	asserts bool // see [Asserts]
	known   map[string]int32
	states  []dfaState
}

// dfaState is a set of instructions, and the preceding context on which assertions depend.
type dfaState struct {
	instructions []uint32 // before following instructions that read no character; sorted
	before       context
	accepts      bool
}

// context is the part of the preceding character on which assertions depend.
type context rune

const (
	beforeText context = -1
	lineEnd    context = '\n'
	wordChar   context = 'a'
	otherChar  context = ' '
)

// NewDFA returns the automaton of a program.
func NewDFA(program *syntax.Prog) *DFA {
	d := &DFA{program: program, asserts: Asserts(program), known: map[string]int32{}}
	d.add([]uint32{uint32(program.Start)}, beforeText)
	return d
}

// Len returns the number of states that were made so far.
func (d *DFA) Len() int { return len(d.states) }

// Accepts reports whether the program matches a text that leads to a state.
func (d *DFA) Accepts(state int32) bool { return d.states[state].accepts }

// Rejects reports whether the program matches no text through a state. It may return false
// although there is none.
func (d *DFA) Rejects(state int32) bool { return len(d.states[state].instructions) == 0 }

// Asserts reports whether states depend on the preceding character, see [Asserts].
func (d *DFA) Asserts() bool { return d.asserts }

// Reads returns the instructions that may read the character after a state.
func (d *DFA) Reads(state int32) []uint32 {
	return Closure(d.program, d.states[state].instructions, ^syntax.EmptyOp(0))
}

// Step returns the state after a character.
func (d *DFA) Step(state int32, r rune) int32 {
	from := d.states[state]
	var out []uint32
	for _, pc := range Closure(d.program, from.instructions, syntax.EmptyOpContext(rune(from.before), r)) {
		if inst := &d.program.Inst[pc]; inst.MatchRune(r) { // no other instruction has runes
			out = append(out, inst.Out)
		}
	}
	slices.Sort(out)
	before := otherChar
	switch {
	case !d.asserts:
	case r == '\n':
		before = lineEnd
	case syntax.IsWordChar(r):
		before = wordChar
	}
	return d.add(slices.Compact(out), before)
}

func (d *DFA) add(instructions []uint32, before context) int32 {
	key := binary.LittleEndian.AppendUint32(nil, uint32(before))
	for _, pc := range instructions {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	if state, known := d.known[string(key)]; known {
		return state
	}
	state := int32(len(d.states))
	d.known[string(key)] = state
	accepts := slices.ContainsFunc(Closure(d.program, instructions, syntax.EmptyOpContext(rune(before), -1)), func(pc uint32) bool {
		return d.program.Inst[pc].Op == syntax.InstMatch
	})
	d.states = append(d.states, dfaState{instructions, before, accepts})
	return state
}
