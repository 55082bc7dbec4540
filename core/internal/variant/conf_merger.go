package variant

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/internal/hashtable"
	"github.com/meshmatch/meshmatch/core/resource"
)

// confMerger merges the confs of policies from the highest priority down. It is an
// Algebra of package partition. State 0 is for parameters that no item selects; it
// differs from an empty conf.
//
// Merging is associative for Confs without unions. A State is then a merged conf.
// Equal confs, found by their hash, are one State, even if different items made them.
// With unions, an item can hide the items below it although it sets nothing. A State
// is then the list of the items that have an effect.
type confMerger struct {
	conf   resource.ConfType
	items  []resource.Conf // lowest priority first
	hides  bool
	all    resource.Conf // the merge of all items; only for Confs without unions
	states []confState
	byConf map[int]int    // states by the number of the conf; only for Confs without unions
	byList map[string]int // states by their items; only for Confs with unions
	confs  *confTable
	buffer []int
}

type confState struct {
	conf     resource.Conf
	items    []int // the items that have an effect, highest priority first; only for Confs with unions
	complete bool  // no item can add anything
}

func newConfMerger(conf resource.ConfType, items []resource.Conf) *confMerger {
	m := &confMerger{
		conf:   conf,
		items:  items,
		hides:  conf.HasUnion(),
		states: make([]confState, 1),
		byConf: make(map[int]int),
		byList: make(map[string]int),
		confs:  &confTable{conf: conf},
	}
	if !m.hides {
		merger := conf.NewMerger()
		for i := len(items) - 1; i >= 0; i-- {
			if merger.Fill(items[i], i) {
				break
			}
		}
		m.all = merger.Conf()
	}
	return m
}

// Start returns the State of no items.
func (m *confMerger) Start() int { return 0 }

// Complete reports whether no item can add anything to a State.
func (m *confMerger) Complete(state int) bool { return m.states[state].complete }

// Add returns the State with an item of lower priority filled in.
func (m *confMerger) Add(state, item int) int {
	switch {
	case m.states[state].complete:
		return state
	case m.hides:
		return m.addToList(state, item)
	}
	merger := m.conf.NewMerger()
	if state != 0 {
		merger.Fill(m.states[state].conf, 1)
	}
	complete := merger.Fill(m.items[item], 0)
	if state != 0 && !m.sets(merger, 0) {
		return state
	}
	number := m.confs.number(merger.Conf())
	if known, ok := m.byConf[number]; ok {
		return known
	}
	conf := m.confs.confs[number]
	next := len(m.states)
	m.states = append(m.states, confState{conf: conf, complete: complete || m.hasAll(conf)})
	m.byConf[number] = next
	return next
}

// sets reports whether an item set a leaf of the merged conf.
func (m *confMerger) sets(merger resource.Merger, item int) bool {
	m.buffer = merger.Origins(m.buffer[:0])
	return slices.Contains(m.buffer, item)
}

// hasAll reports whether a conf sets all leaves that any item sets. For most confs this
// is true before all policies of a fleet are merged, although no conf sets all fields of
// its type. A list to which items append is never complete.
func (m *confMerger) hasAll(conf resource.Conf) bool {
	merger := m.conf.NewMerger()
	merger.Fill(conf, 1)
	merger.Fill(m.all, 0)
	return !m.sets(merger, 0)
}

// addToList adds an item to a State of a Conf type with unions.
func (m *confMerger) addToList(state, item int) int {
	above := m.states[state].items
	merger := m.merge(above)
	complete := merger.Fill(m.items[item], item)
	if state != 0 && !m.sets(merger, item) && !m.hidesBelow(above, item) {
		return state
	}
	items := append(above[:len(above):len(above)], item)
	key := make([]byte, 0, 2*len(items))
	for _, i := range items {
		key = binary.AppendUvarint(key, uint64(i))
	}
	if known, ok := m.byList[string(key)]; ok {
		return known
	}
	next := len(m.states)
	m.states = append(m.states, confState{conf: merger.Conf(), items: items, complete: complete})
	m.byList[string(key)] = next
	return next
}

// merge returns a merger filled from items, highest priority first.
func (m *confMerger) merge(items []int) resource.Merger {
	merger := m.conf.NewMerger()
	for _, i := range items {
		merger.Fill(m.items[i], i)
	}
	return merger
}

// hidesBelow reports whether an item that sets nothing hides an item below it. It can
// hide only arms of unions, and it hides each item independently: if no single item
// below makes a difference, several do not either.
func (m *confMerger) hidesBelow(above []int, item int) bool {
	for lower := range item {
		without := m.merge(above)
		without.Fill(m.items[lower], lower)
		if !m.sets(without, lower) {
			continue
		}
		with := m.merge(append(above[:len(above):len(above)], item))
		with.Fill(m.items[lower], lower)
		if !m.conf.Equal(with.Conf(), without.Conf()) {
			return true
		}
	}
	return false
}

// content returns the conf of a State, or nil. Equal confs are the same
// pointer.
func (m *confMerger) content(state int) resource.Conf {
	if conf := m.states[state].conf; conf != nil && m.hides {
		return m.confs.confs[m.confs.number(conf)]
	}
	return m.states[state].conf
}

// confTable numbers confs; equal confs have the same number.
type confTable struct {
	conf    resource.ConfType
	confs   []resource.Conf // by number
	numbers hashtable.Table[int]
}

func (t *confTable) number(conf resource.Conf) int {
	hash := hashConf(conf)
	number, known := t.numbers.Find(hash, func(number int) bool { return t.conf.Equal(t.confs[number], conf) })
	if !known {
		number = len(t.confs)
		t.confs = append(t.confs, conf)
		t.numbers.Add(hash, number)
	}
	return number
}

// hashConf returns a hash of the content of a conf. It uses the generated method (see
// //confgen:conf hash) or, if the type has no such method, hashes the JSON.
func hashConf(c resource.Conf) uint64 {
	if h, ok := c.(interface{ Hash() uint64 }); ok {
		return h.Hash()
	}
	data, err := conf.Marshal(c)
	if err != nil {
		return 0
	}
	return xxhash.Sum64(data)
}
