package server

import (
	"maps"
	"testing"
)

// The texts of different maps differ: of all maps with one or two entries of short words
// over bytes that may separate or be a length. The fuzz test has longer ones.
func TestParametersKey(t *testing.T) {
	words := func(longest int) []string {
		all, last := []string{""}, []string{""}
		for range longest {
			var next []string
			for _, w := range last {
				for _, b := range []string{"\x00", "\x01", "a"} {
					next = append(next, w+b)
				}
			}
			all, last = append(all, next...), next
		}
		return all
	}
	seen := map[string]map[string]string{}
	check := func(m map[string]string) {
		key := parametersKey(m)
		if other, ok := seen[key]; ok && !maps.Equal(m, other) {
			t.Fatalf("%q and %q have the text %q", m, other, key)
		}
		seen[key] = m
	}
	short := words(1)
	for _, key := range words(2) {
		for _, value := range words(5) {
			check(map[string]string{key: value})
		}
	}
	for _, k1 := range short {
		for _, v1 := range words(2) {
			for _, k2 := range short {
				for _, v2 := range short {
					check(map[string]string{k1: v1, k2: v2})
				}
			}
		}
	}
}
