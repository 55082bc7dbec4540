package partition

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// search is the depth-first search of [Ordered]. It identifies contents by
// number.
type search struct {
	budget
	domain
	add      func(content uint32, item int32) uint32
	complete func(content uint32) bool

	items   [][]tag
	byKey   []keyItems // by key
	missing []int32    // by item: the number of its tags that the selector does not imply
	refused []bool     // by item

	has   []int32  // by key: the selector's value, anyValue or noValue
	trail []change // of has, to undo

	found  int // the number of rules
	rules  []foundRule
	survey survey
}

// tag is a requirement of an item: the number of a value, or anyValue.
type tag struct{ key, value int32 }

const (
	anyValue = -1 // the key is present
	noValue  = -2 // the selector does not name the key
)

// keyItems contains the items that name a key, the highest priority first. silent
// lists the items that do not name it; it is made when it is first needed.
type keyItems struct {
	any    []int32
	values [][]int32 // by number of the value
	named  int       // items in any and values
	silent []int32
}

type change struct{ key, before int32 }

// foundRule is a rule: its selector by ascending key, and its content.
type foundRule struct {
	tags    []tag
	content uint32
}

func newSearch(items []Tags, add func(uint32, int32) uint32, complete func(uint32) bool, limits Limits) *search {
	s := &search{
		budget:   newBudget(limits),
		add:      add,
		complete: complete,
		items:    make([][]tag, len(items)),
		missing:  make([]int32, len(items)),
		refused:  make([]bool, len(items)),
		survey:   survey{levels: math.MaxInt, next: firstSurvey},
	}
	for i := len(items) - 1; i >= 0; i-- {
		s.declareTags(int32(i), items[i])
	}
	s.has = make([]int32, len(s.keys))
	for k := range s.has {
		s.has[k] = noValue
	}
	return s
}

func (s *search) declareTags(item int32, tags Tags) {
	s.items[item] = make([]tag, 0, len(tags))
	s.missing[item] = int32(len(tags))
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		k := s.key(name)
		if int(k) == len(s.byKey) {
			s.byKey = append(s.byKey, keyItems{})
		}
		entry := &s.byKey[k]
		entry.named++
		if tags[name] == Any {
			entry.any = append(entry.any, item)
			s.items[item] = append(s.items[item], tag{k, anyValue})
			continue
		}
		v := s.value(k, tags[name])
		if int(v) == len(entry.values) {
			entry.values = append(entry.values, nil)
		}
		entry.values[v] = append(entry.values[v], item)
		s.items[item] = append(s.items[item], tag{k, int32(v)})
	}
}

// everything returns all items, the highest priority first.
func (s *search) everything() []int32 {
	all := make([]int32, len(s.items))
	for i := range all {
		all[i] = int32(len(all) - 1 - i)
	}
	return all
}

func (s *search) splitting() []int {
	var items []int
	for i := len(s.items) - 1; i >= 0; i-- {
		if len(s.items[i]) > 0 {
			items = append(items, i)
		}
	}
	return items
}

// descend finds the rules below a position. rest is the remaining items, the highest
// priority first; an item that is not in it contradicts the selector.
func (s *search) descend(rest []int32, content uint32) {
	var refusals []int32
	for i, item := range rest {
		if !s.spend(1) || s.complete(content) {
			break
		}
		if s.missing[item] == 0 {
			content = s.add(content, item)
			continue
		}
		if s.contradicts(item) {
			continue
		}
		taken := s.add(content, item)
		if taken == content {
			continue
		}
		before := len(s.trail)
		switch {
		case !s.take(item):
		case s.survey.levels == 0:
			s.survey.cut = true
			s.count()
		default:
			s.survey.levels--
			s.descend(s.compatible(item, rest[i+1:], before), taken)
			s.survey.levels++
		}
		s.release(before)
		s.refused[item] = true
		refusals = append(refusals, item)
	}
	if content != nothing && s.count() && s.survey.next > 0 {
		s.rules = append(s.rules, foundRule{s.tags(), content})
	}
	for _, item := range refusals {
		s.refused[item] = false
	}
}

// contradicts reports whether the item and the selector require different values of a
// key.
func (s *search) contradicts(item int32) bool {
	for _, t := range s.items[item] {
		if has := s.has[t.key]; has >= 0 && t.value >= 0 && has != t.value {
			return true
		}
	}
	return false
}

// take adds the item's tags to the selector. It reports whether the selector still
// selects some client, that is, implies no refused item.
func (s *search) take(item int32) bool {
	left := true
	for _, t := range s.items[item] {
		before := s.has[t.key]
		if before >= 0 || before == t.value {
			continue
		}
		s.trail = append(s.trail, change{t.key, before})
		s.has[t.key] = t.value
		entry := &s.byKey[t.key]
		if before == noValue {
			left = s.imply(entry.any) && left
		}
		if t.value >= 0 {
			left = s.imply(entry.values[t.value]) && left
		}
	}
	return left
}

func (s *search) imply(items []int32) bool {
	s.spend(len(items))
	left := true
	for _, item := range items {
		s.missing[item]--
		if s.missing[item] == 0 && s.refused[item] {
			left = false
		}
	}
	return left
}

// release removes every tag that was taken after the trail had the given length.
func (s *search) release(length int) {
	for len(s.trail) > length {
		last := s.trail[len(s.trail)-1]
		s.trail = s.trail[:len(s.trail)-1]
		entry := &s.byKey[last.key]
		if value := s.has[last.key]; value >= 0 {
			for _, item := range entry.values[value] {
				s.missing[item]++
			}
		}
		if last.before == noValue {
			for _, item := range entry.any {
				s.missing[item]++
			}
		}
		s.has[last.key] = last.before
	}
}

// compatible narrows rest, below an item that was just taken, to the items that do not
// require another value of one of its keys. It narrows only if this omits more than
// half of the items. So a thousand items that each name a service are not visited a
// thousand times.
func (s *search) compatible(item int32, rest []int32, trail int) []int32 {
	var best []tag
	size := len(rest) / 2
	for _, c := range s.trail[trail:] {
		value := s.has[c.key]
		if value < 0 {
			continue
		}
		entry := &s.byKey[c.key]
		n := len(entry.values[value]) + len(entry.any) + len(s.items) - entry.named
		if n < size {
			best, size = []tag{{c.key, value}}, n
		}
	}
	if best == nil || !s.spend(size) {
		return rest
	}
	entry := &s.byKey[best[0].key]
	narrowed := make([]int32, 0, size)
	for _, list := range [][]int32{entry.values[best[0].value], entry.any, s.silent(best[0].key)} {
		for _, other := range list {
			if other < item {
				narrowed = append(narrowed, other)
			}
		}
	}
	slices.SortFunc(narrowed, func(a, b int32) int { return cmp.Compare(b, a) })
	return narrowed
}

// silent returns the items that do not name the key.
func (s *search) silent(key int32) []int32 {
	entry := &s.byKey[key]
	if entry.silent != nil || entry.named == len(s.items) {
		return entry.silent
	}
	for item, tags := range s.items {
		if !slices.ContainsFunc(tags, func(t tag) bool { return t.key == key }) {
			entry.silent = append(entry.silent, int32(item))
		}
	}
	return entry.silent
}

// tags returns the selector.
func (s *search) tags() []tag {
	var tags []tag
	for _, c := range s.trail {
		if c.before == noValue {
			tags = append(tags, tag{c.key, s.has[c.key]})
		}
	}
	slices.SortFunc(tags, func(a, b tag) int { return cmp.Compare(a.key, b.key) })
	return tags
}

// positive returns a selector of tags.
func (s *search) positive(tags []tag) Selector {
	if len(tags) == 0 {
		return nil
	}
	selector := make(Selector, len(tags))
	for i, t := range tags {
		key := &s.keys[t.key]
		if t.value == anyValue {
			selector[i] = Requirement{Key: key.name, Kind: Exists}
		} else {
			selector[i] = Requirement{Key: key.name, Kind: Is, Value: key.values[t.value]}
		}
	}
	slices.SortFunc(selector, func(a, b Requirement) int { return cmp.Compare(a.Key, b.Key) })
	return selector
}
