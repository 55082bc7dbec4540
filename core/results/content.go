package results

import (
	"encoding/binary"
	"slices"

	"github.com/meshmatch/meshmatch/core/resource"
)

// content identifies a merged conf in [contents].
type content int32

// nothing is the content of no items.
const nothing content = 0

// contents merges items; it is the Algebra that package partition requires. Two
// merges with the same origins have the same content, because an item that is
// not an origin changes nothing. So a content is identified by its origins and
// is made once. If an item can hide others without being an origin, a content is
// identified by all items that apply.
type contents struct {
	conf   resource.ConfType
	items  []Contribution
	states []contentState
	known  map[string]content
	parts  []int  // of the last content that was added; scratch memory
	key    []byte // the key of parts; scratch memory
}

type contentState struct {
	parts    []int // the items that identify the content, ascending
	complete bool  // every leaf is set: a lower item changes nothing
	merged   *Effective
}

func newContents(conf resource.ConfType, items []Contribution) *contents {
	return &contents{conf: conf, items: items, states: []contentState{{}}, known: map[string]content{}}
}

// Start returns the content of no items.
func (c *contents) Start() content { return nothing }

// Complete reports whether every leaf of s is set.
func (c *contents) Complete(s content) bool { return c.states[s].complete }

// Add returns the content of s together with an item whose priority is lower than
// any in s.
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
	if c.conf.HasUnion() {
		c.parts = append(append(c.parts[:0], item), state.parts...)
	} else {
		c.parts = merger.Origins(c.parts[:0])
	}
	c.key = c.key[:0]
	for _, part := range c.parts {
		c.key = binary.AppendUvarint(c.key, uint64(part))
	}
	if next, ok := c.known[string(c.key)]; ok {
		return next
	}
	next := content(len(c.states))
	c.states = append(c.states, contentState{parts: slices.Clone(c.parts), complete: complete})
	c.known[string(c.key)] = next
	return next
}

// effective returns the merged conf of a content. It is made at the first call.
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
