package language

import "strings"

// TextCondition is a condition on a text that needs no expression.
type TextCondition struct {
	How   How
	Value string
}

// How is the way to compare a text with a value.
type How uint8

// The ways to compare.
const (
	Exactly How = iota
	Below       // the value or, by segment, a path below it
	StartsWith
)

// Holds reports whether a text meets the condition.
func (c TextCondition) Holds(text string) bool {
	switch c.How {
	case Below:
		return strings.HasPrefix(text, c.Value) && (len(text) == len(c.Value) || text[len(c.Value)] == '/')
	case StartsWith:
		return strings.HasPrefix(text, c.Value)
	}
	return text == c.Value
}

// A Trie divides all texts by the conditions that they meet.
type Trie struct{ nodes []node }

// node is a prefix of a value. In state 2n, the text so far is this prefix; in state
// 2n+1, the text left the trie at this prefix.
type node struct {
	next      map[byte]int32
	ends      []int // conditions that only the text itself meets, not longer texts
	passes    []int // conditions that the text and all longer ones meet
	on, after int32 // sets of conditions, numbered
}

// NewTrie returns the trie of some conditions.
func NewTrie(conditions []TextCondition) *Trie {
	t := &Trie{nodes: []node{{next: map[byte]int32{}}}}
	for i, c := range conditions {
		n := t.insert(c.Value)
		switch c.How {
		case Exactly:
			t.nodes[n].ends = append(t.nodes[n].ends, i)
		case StartsWith:
			t.nodes[n].passes = append(t.nodes[n].passes, i)
		case Below:
			t.nodes[n].ends = append(t.nodes[n].ends, i)
			below := t.insert(c.Value + "/")
			t.nodes[below].passes = append(t.nodes[below].passes, i)
		}
	}
	t.number()
	return t
}

func (t *Trie) insert(text string) int32 {
	at := int32(0)
	for i := range len(text) {
		next, known := t.nodes[at].next[text[i]]
		if !known {
			next = int32(len(t.nodes))
			t.nodes[at].next[text[i]] = next
			t.nodes = append(t.nodes, node{next: map[byte]int32{}})
		}
		at = next
	}
	return at
}

// number gives equal sets of conditions equal numbers. A node is numbered after its
// parent.
func (t *Trie) number() {
	type step struct {
		set       int32
		condition int
	}
	sets := map[step]int32{}
	with := func(set int32, conditions []int) int32 {
		for _, c := range conditions {
			next, known := sets[step{set, c}]
			if !known {
				next = int32(len(sets) + 1)
				sets[step{set, c}] = next
			}
			set = next
		}
		return set
	}
	for n := range t.nodes {
		at := &t.nodes[n]
		at.after = with(at.after, at.passes)
		at.on = with(at.after, at.ends)
		for _, next := range at.next {
			t.nodes[next].after = at.after
		}
	}
}

// Like returns the texts that meet the same conditions as a text.
func (t *Trie) Like(text string) Language {
	class := &class{trie: t}
	state := class.start()
	for i := range len(text) {
		state = class.step(state, text[i])
	}
	class.set = class.setOf(state)
	class.find()
	return class
}

// class contains the texts that meet exactly one set of conditions.
type class struct {
	trie *Trie
	set  int32
	some []bool // by node: whether a text with this prefix is in the class
}

// find finds the prefixes of the class. A node is after its parent.
func (c *class) find() {
	nodes := c.trie.nodes
	c.some = make([]bool, len(nodes))
	for n := len(nodes) - 1; n >= 0; n-- {
		c.some[n] = nodes[n].on == c.set || nodes[n].after == c.set
		for _, next := range nodes[n].next {
			c.some[n] = c.some[n] || c.some[next]
		}
	}
}

func (c *class) start() int32 { return 0 }

func (c *class) step(state int32, b byte) int32 {
	if state&1 == 1 {
		return state
	}
	if next, on := c.trie.nodes[state/2].next[b]; on {
		return 2 * next
	}
	return state + 1
}

func (c *class) setOf(state int32) int32 {
	if state&1 == 1 {
		return c.trie.nodes[state/2].after
	}
	return c.trie.nodes[state/2].on
}

func (c *class) accepts(state int32) bool { return c.setOf(state) == c.set }

func (c *class) hopeless(state int32) bool {
	return state&1 == 1 && !c.accepts(state) || state&1 == 0 && !c.some[state/2]
}

func (c *class) certain(state int32) bool { return state&1 == 1 && c.accepts(state) }

func (c *class) cut(state int32, cuts *bytes) {
	if state&1 == 0 {
		for b := range c.trie.nodes[state/2].next {
			cuts.mark(rune(b), rune(b))
		}
	}
}
