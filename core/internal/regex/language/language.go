package language

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"

	"github.com/meshmatch/meshmatch/core/internal/regex"
)

// A Language is a set of texts.
type Language interface {
	// start returns the state before the first byte.
	start() int32
	// step returns the state after a byte.
	step(state int32, c byte) int32
	// accepts reports whether a text that ends in the state is in the language.
	accepts(state int32) bool
	// hopeless reports whether no text through the state is in the language. It may
	// return false although there is none.
	hopeless(state int32) bool
	// certain reports whether all texts through the state are in the language. It may
	// return false although all are.
	certain(state int32) bool
	// cut marks the bytes that the state distinguishes from the preceding byte value.
	cut(state int32, cuts *bytes)
}

// bytes is a set of bytes.
type bytes [4]uint64

// mark marks the ends of a range of bytes.
func (b *bytes) mark(first, last rune) {
	for _, at := range []rune{first, last + 1} {
		if at < 256 {
			b[at/64] |= 1 << (at % 64)
		}
	}
}

func (b *bytes) has(c int) bool { return b[c/64]>>(c%64)&1 == 1 }

// Whole returns the texts that an expression matches.
func Whole(e *regex.Expr) Language { return compile(e.BytewiseWhole()) }

// Target returns the paths, with or without a query, whose path an expression matches.
func Target(e *regex.Expr) Language { return compile(e.BytewiseTarget()) }

// Runs returns the header values with a run of comma-separated elements that an expression
// matches (SPEC 7.2).
func Runs(e *regex.Expr) Language { return compile(e.BytewiseRuns()) }

// Denial returns the header values that a denial matches (SPEC 7.2): those of [Runs], and
// values with a byte outside ASCII.
func Denial(e *regex.Expr) Language {
	return compile(e.BytewiseRuns() + `|(?s:.)*[\x{80}-\x{ff}](?s:.)*`)
}

// Values returns the texts that an expression in the syntax of package regexp matches. Its
// characters are bytes. It must be valid.
func Values(expression string) Language { return compile(expression) }

func compile(expression string) Language {
	program, err := regex.Compile(`(?:` + expression + `)\z`)
	if err != nil {
		panic(err)
	}
	p := &automaton{program: program, known: map[string]int32{}, asserts: regex.Asserts(program)}
	var cuts bytes
	if p.asserts {
		markContexts(&cuts)
	}
	for i := range program.Inst {
		markRunes(&cuts, &program.Inst[i])
	}
	class := uint8(0)
	for c := range 256 {
		if cuts.has(c) && c > 0 {
			class++
		}
		p.classOf[c] = class
	}
	p.classes = int(class) + 1
	p.add([]uint32{uint32(program.Start)}, begin)
	return p
}

// automaton is the deterministic automaton of a program. A state is a set of
// instructions, and the preceding context on which assertions depend.
type automaton struct {
	program *syntax.Prog
	known   map[string]int32
	states  []set
	classOf [256]uint8
	classes int
	asserts bool // an assertion depends on the preceding byte, besides on whether there is one
}

type set struct {
	instructions []uint32 // before following instructions that read no byte; sorted
	before       context
	accepting    bool
	next         []int32 // by class of bytes; 0: unknown, otherwise the state plus 1
	cuts         bytes   // the bytes that the state distinguishes from the preceding byte value
}

// context is the part of the preceding byte on which assertions depend.
type context rune

const (
	begin   context = -1
	newline context = '\n'
	word    context = 'a'
	other   context = ' '
)

func contextOf(c byte) context {
	switch {
	case c == '\n':
		return newline
	case syntax.IsWordChar(rune(c)):
		return word
	}
	return other
}

func (a *automaton) start() int32              { return 0 }
func (a *automaton) accepts(state int32) bool  { return a.states[state].accepting }
func (a *automaton) hopeless(state int32) bool { return len(a.states[state].instructions) == 0 }

func (a *automaton) step(state int32, c byte) int32 {
	class := a.classOf[c]
	if next := a.states[state].next[class]; next > 0 {
		return next - 1
	}
	from := a.states[state]
	var out []uint32
	for _, pc := range regex.Closure(a.program, from.instructions, syntax.EmptyOpContext(rune(from.before), rune(c))) {
		if inst := &a.program.Inst[pc]; inst.MatchRune(rune(c)) { // no other instruction has runes
			out = append(out, inst.Out)
		}
	}
	slices.Sort(out)
	before := other
	if a.asserts {
		before = contextOf(c)
	}
	next := a.add(slices.Compact(out), before)
	a.states[state].next[class] = next + 1
	return next
}

func (a *automaton) add(instructions []uint32, before context) int32 {
	key := binary.LittleEndian.AppendUint32(nil, uint32(before))
	for _, pc := range instructions {
		key = binary.LittleEndian.AppendUint32(key, pc)
	}
	if state, known := a.known[string(key)]; known {
		return state
	}
	state := int32(len(a.states))
	a.known[string(key)] = state
	s := set{instructions: instructions, before: before, next: make([]int32, a.classes)}
	for _, pc := range regex.Closure(a.program, instructions, syntax.EmptyOpContext(rune(before), -1)) {
		s.accepting = s.accepting || a.program.Inst[pc].Op == syntax.InstMatch
	}
	if a.asserts {
		markContexts(&s.cuts)
	}
	for _, pc := range regex.Closure(a.program, instructions, ^syntax.EmptyOp(0)) {
		markRunes(&s.cuts, &a.program.Inst[pc])
	}
	a.states = append(a.states, s)
	return state
}

// certain reports whether a state accepts, distinguishes no bytes and leads to itself alone.
func (a *automaton) certain(state int32) bool {
	at := &a.states[state]
	return at.accepting && at.cuts == bytes{} && a.step(state, 'a') == state
}

func (a *automaton) cut(state int32, cuts *bytes) {
	for i, word := range a.states[state].cuts {
		cuts[i] |= word
	}
}

// markContexts marks the bytes that assertions distinguish: a word, a line, or neither.
func markContexts(cuts *bytes) {
	for _, r := range [][2]rune{{'\n', '\n'}, {'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}} {
		cuts.mark(r[0], r[1])
	}
}

// markRunes marks the bytes that an instruction distinguishes from the preceding byte value.
func markRunes(cuts *bytes, inst *syntax.Inst) {
	switch inst.Op {
	case syntax.InstRuneAnyNotNL:
		cuts.mark('\n', '\n')
	case syntax.InstRune1, syntax.InstRune:
		if len(inst.Rune) == 1 {
			for c := range rune(256) { // the instruction may fold letters
				if inst.MatchRune(c) {
					cuts.mark(c, c)
				}
			}
			return
		}
		for k := 0; k < len(inst.Rune); k += 2 {
			cuts.mark(inst.Rune[k], inst.Rune[k+1])
		}
	}
}

// States returns the number of states that an automaton has made so far; it keeps them. It
// returns 0 for other languages.
func States(l Language) int {
	if a, ok := l.(*automaton); ok {
		return len(a.states)
	}
	return 0
}

// Contains reports whether a text is in a language.
func Contains(l Language, text string) bool {
	state := l.start()
	for i := range len(text) {
		state = l.step(state, text[i])
	}
	return l.accepts(state)
}
