package strict

import (
	"reflect"
	"slices"
)

// Most values are strings and numbers of a [flatText] that need no check except the one of
// their type. The functions of this file decode them without a place, a path and calls of an
// interface. For any other value, and for one with an error, they return false before they
// consume anything. The decoder then decodes it in the usual way, and reports errors.

// isQuick reports whether [decoder.quick] decodes values of the type.
func (p *plan) isQuick() bool {
	return !p.validates && (p.form == text || p.form == boolean || p.form == natural || p.form == entries)
}

// quick decodes the next value into v if it has no errors and is a scalar or has entries.
func (d *decoder) quick(v reflect.Value, p *plan) bool {
	if !p.quick || d.in != &d.flat {
		return false
	}
	c := &d.flat
	of := &c.text.parts[c.next]
	switch p.form {
	case text:
		if of.kind != String {
			return false
		}
		word := keep(c.strings, c.text.textOf(c.next))
		if p.isEnum && !slices.Contains(p.words, word) {
			return false
		}
		v.SetString(word)
	case boolean:
		if of.kind != Bool {
			return false
		}
		switch string(c.text.data[of.begin:of.end]) {
		case "true":
			v.SetBool(true)
		case "false":
			v.SetBool(false)
		default:
			return false
		}
	case natural:
		n, ok := shortNatural(c.text.data[of.begin:of.end])
		if of.kind != Int || !ok || n>>p.bits != 0 {
			return false
		}
		v.SetUint(n)
	case entries:
		return d.quickEntries(v)
	}
	c.next++
	return true
}

// shortNatural returns the value of at most nine decimal digits.
func shortNatural(digits []byte) (n uint64, ok bool) {
	if len(digits) == 0 || len(digits) > 9 {
		return 0, false
	}
	for _, c := range digits {
		if c < '0' || '9' < c {
			return 0, false
		}
		n = 10*n + uint64(c-'0')
	}
	return n, true
}

// quickEntries decodes the next value into v, which has [Entries], if it is a mapping of
// strings with sorted names, as programs write it.
func (d *decoder) quickEntries(v reflect.Value) bool {
	c, begin := &d.flat, len(d.entries)
	defer func() { d.entries = d.entries[:begin] }()
	parts := c.text.parts
	if parts[c.next].kind != Mapping {
		return false
	}
	end := c.next + int(parts[c.next].parts)
	for i := c.next + 1; i < end; i += 2 {
		if parts[i].kind != String || parts[i+1].kind != String {
			return false
		}
		entry := Entry{keep(c.strings, c.text.textOf(i)), keep(c.strings, c.text.textOf(i+1))}
		if last := len(d.entries) - 1; last >= begin && d.entries[last].Name >= entry.Name {
			return false
		}
		d.entries = append(d.entries, entry)
	}
	c.next = end
	v.Addr().Interface().(Entries).SetEntries(d.entries[begin:])
	return true
}
