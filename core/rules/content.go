package rules

import (
	"encoding/binary"

	"github.com/meshmatch/meshmatch/core/resource"
)

// content is the number of a merged content among [contents].
type content int32

// nothing is the content of a client that no item selects.
const nothing content = 0

// contents merges items for package partition, as its Algebra. Two merges of
// which the same items are the origins have the same content, as an item that
// is no origin changes nothing, so a content is known by its origins and is
// made once. Where an item can hide others without being an origin, a content
// is known by all items that select its clients.
type contents struct {
	conf   resource.ConfType
	items  []Contribution
	states []contentState
	known  map[string]content
	key    []byte
}

type contentState struct {
	parts    []int // the items that matter, ascending
	complete bool  // nothing is left that a lower item could set
	merged   *Effective
}

func newContents(conf resource.ConfType, items []Contribution) *contents {
	return &contents{conf: conf, items: items, states: []contentState{{}}, known: map[string]content{}}
}

// Start is what no item selects.
func (c *contents) Start() content { return nothing }

// Add fills s from an item of lower priority than all in it.
func (c *contents) Add(s content, item int) content {
	state := &c.states[s]
	if state.complete {
		return s
	}
	merger := c.conf.NewMerger()
	for i := len(state.parts) - 1; i >= 0; i-- {
		merger.Fill(c.items[state.parts[i]].Conf, state.parts[i])
	}
	complete := merger.Fill(c.items[item].Conf, item)
	var parts []int
	if c.conf.HidesBelow() {
		parts = append([]int{item}, state.parts...)
	} else {
		parts = merger.Origins(nil)
	}
	c.key = c.key[:0]
	for _, part := range parts {
		c.key = binary.AppendUvarint(c.key, uint64(part))
	}
	if next, ok := c.known[string(c.key)]; ok {
		return next
	}
	next := content(len(c.states))
	c.states = append(c.states, contentState{parts: parts, complete: complete})
	c.known[string(c.key)] = next
	return next
}

// effective returns a content's merged conf, made once.
func (c *contents) effective(s content) *Effective {
	state := &c.states[s]
	if state.merged == nil && s != nothing {
		items := make([]Contribution, len(state.parts))
		for i, part := range state.parts {
			items[i] = c.items[part]
		}
		state.merged = merge(c.conf, items)
	}
	return state.merged
}
