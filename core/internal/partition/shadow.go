package partition

import "slices"

// dropShadowing removes rules that make no difference: without the rule, every client
// that reaches it would have the same content from the next rule that selects it. It
// goes from the last rule up and compares each rule with the kept rules below it, from
// the next one down. If such a rule has another content and selects a common client,
// the rule is kept. If it has the same content and selects all clients of the rule,
// the rule is dropped.
//
// SPEC 5.4 holds without it, so it may stop after the given number of steps.
func dropShadowing(rules []foundRule, steps int) []foundRule {
	d := dropper{rules: rules, lead: leadKey(rules), steps: steps, byValue: make(map[int32][]int)}
	contents := make(map[uint32]bool)
	keep := make([]bool, len(rules))
	for i := len(rules) - 1; i >= 0; i-- {
		if contents[rules[i].content] && d.steps > 0 && d.shadows(i) {
			continue
		}
		contents[rules[i].content] = true
		keep[i] = true
		d.keep(i)
	}
	kept := rules[:0]
	for i := range rules {
		if keep[i] {
			kept = append(kept, rules[i])
		}
	}
	return kept
}

// dropper lists the kept rules by their value of one key. So a rule for one
// service is not compared with the rules for all other services. All lists
// descend.
type dropper struct {
	rules   []foundRule
	lead    int32
	steps   int
	all     []int
	byValue map[int32][]int
	open    []int // without a value of the key
}

func (d *dropper) keep(i int) {
	d.all = append(d.all, i)
	if value := valueOf(d.rules[i].tags, d.lead); value >= 0 {
		d.byValue[value] = append(d.byValue[value], i)
	} else {
		d.open = append(d.open, i)
	}
}

// shadows reports whether the clients of rule i have the same content in the rules
// after it.
func (d *dropper) shadows(i int) bool {
	one, two := d.all, []int(nil)
	if value := valueOf(d.rules[i].tags, d.lead); value >= 0 {
		one, two = d.byValue[value], d.open
	}
	for len(one) > 0 || len(two) > 0 {
		d.steps--
		var next int
		if len(two) == 0 || len(one) > 0 && one[len(one)-1] < two[len(two)-1] {
			next, one = one[len(one)-1], one[:len(one)-1]
		} else {
			next, two = two[len(two)-1], two[:len(two)-1]
		}
		meets, covered := compare(d.rules[i].tags, d.rules[next].tags)
		switch {
		case !meets:
		case d.rules[i].content != d.rules[next].content:
			return false
		case covered:
			return true
		}
	}
	return false
}

// compare reports whether a client can have all tags of a and b. It also
// reports whether every client with the tags of a has the tags of b.
func compare(a, b []tag) (meets, covered bool) {
	covered = true
	for _, t := range b {
		value := valueOf(a, t.key)
		switch {
		case value == noValue, value == anyValue && t.value != anyValue:
			covered = false
		case value >= 0 && t.value >= 0 && value != t.value:
			return false, false
		}
	}
	return true, covered
}

// valueOf returns the value, anyValue or noValue of a key.
func valueOf(tags []tag, key int32) int32 {
	at, ok := slices.BinarySearchFunc(tags, key, func(t tag, key int32) int { return int(t.key - key) })
	if !ok {
		return noValue
	}
	return tags[at].value
}

// leadKey returns the key for which most rules require a value.
func leadKey(rules []foundRule) int32 {
	lead, most := int32(noKey), 0
	count := make(map[int32]int)
	for i := range rules {
		for _, t := range rules[i].tags {
			if t.value < 0 {
				continue
			}
			count[t.key]++
			if n := count[t.key]; n > most || n == most && t.key < lead {
				lead, most = t.key, n
			}
		}
	}
	return lead
}
