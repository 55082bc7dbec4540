package language

import (
	"regexp/syntax"

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

// classes returns the number of the class of each byte, and how many classes there are. A
// marked byte begins a class.
func (b *bytes) classes() (classOf [256]uint8, n int) {
	for c := range 256 {
		if c > 0 && b[c/64]>>(c%64)&1 == 1 {
			n++
		}
		classOf[c] = uint8(n)
	}
	return classOf, n + 1
}

// Whole returns the texts that an expression matches.
func Whole(e *regex.Expr) Language { return compile(e.BytewiseWhole()) }

// Target returns the paths, with or without a query, whose path an expression matches.
func Target(e *regex.Expr) Language { return compile(e.BytewiseTarget()) }

// Runs returns the header values with a run of comma-separated elements that an expression
// matches (SPEC 7.2).
func Runs(e *regex.Expr) Language { return compile(e.BytewiseRuns()) }

// Denial returns the header values that a denial matches (SPEC 7.2): the values of
// [Runs], and values with a byte outside ASCII.
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
	p := &automaton{program: program, dfa: regex.NewDFA(program)}
	var cuts bytes
	if p.dfa.Asserts() {
		markContexts(&cuts)
	}
	for i := range program.Inst {
		markRunes(&cuts, &program.Inst[i])
	}
	p.classOf, p.classes = cuts.classes()
	p.extend()
	return p
}

// automaton is the deterministic automaton of a program that reads bytes.
type automaton struct {
	program *syntax.Prog
	dfa     *regex.DFA
	steps   []steps // by state
	classOf [256]uint8
	classes int
}

// steps is what is known of the steps from a state.
type steps struct {
	next []int32 // by class of bytes; 0: unknown, otherwise the state plus 1
	cuts bytes   // the bytes that the state distinguishes from the preceding byte value
}

func (a *automaton) start() int32              { return 0 }
func (a *automaton) accepts(state int32) bool  { return a.dfa.Accepts(state) }
func (a *automaton) hopeless(state int32) bool { return a.dfa.Rejects(state) }

func (a *automaton) step(state int32, c byte) int32 {
	class := a.classOf[c]
	if next := a.steps[state].next[class]; next > 0 {
		return next - 1
	}
	next := a.dfa.Step(state, rune(c))
	a.steps[state].next[class] = next + 1
	a.extend()
	return next
}

// extend adds the steps of new states.
func (a *automaton) extend() {
	for state := len(a.steps); state < a.dfa.Len(); state++ {
		s := steps{next: make([]int32, a.classes)}
		if a.dfa.Asserts() {
			markContexts(&s.cuts)
		}
		for _, pc := range a.dfa.Reads(int32(state)) {
			markRunes(&s.cuts, &a.program.Inst[pc])
		}
		a.steps = append(a.steps, s)
	}
}

// certain reports whether a state accepts, distinguishes no bytes and leads to itself alone.
func (a *automaton) certain(state int32) bool {
	return a.accepts(state) && a.steps[state].cuts == bytes{} && a.step(state, 'a') == state
}

func (a *automaton) cut(state int32, cuts *bytes) {
	for i, word := range a.steps[state].cuts {
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
		return a.dfa.Len()
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
