package server

import (
	"maps"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/xds/wire"
)

const wildcard = "*"

// A subscription is what a stream asks for in one type.
type subscription struct {
	all      bool     // the wildcard, explicit or implied by an empty first request
	names    []string // sorted
	locators []locator
}

// subscribeAll adds names, which need not be sorted.
func (s *subscription) subscribeAll(names []string) {
	fresh := make([]string, 0, len(names))
	for _, name := range names {
		if name == wildcard {
			s.all = true
		} else {
			fresh = append(fresh, name)
		}
	}
	s.names = union(s.names, fresh)
}

// unsubscribe removes names.
func (s *subscription) unsubscribe(names []string) {
	gone := slices.Sorted(slices.Values(names))
	isGone := func(name string) bool {
		_, found := slices.BinarySearch(gone, name)
		return found
	}
	s.all = s.all && !isGone(wildcard)
	s.names = slices.DeleteFunc(s.names, isGone)
}

// has reports whether a name is subscribed by itself.
func (s *subscription) has(name string) bool {
	_, found := slices.BinarySearch(s.names, name)
	return found
}

// size returns the number of names and locators.
func (s *subscription) size() int { return len(s.names) + len(s.locators) }

// union returns the names of both slices, sorted and without duplicates. The first
// one is sorted and may be changed; the second one is sorted in place.
func union(sorted, further []string) []string {
	if len(further) == 0 {
		return sorted
	}
	slices.Sort(further)
	if len(sorted) == 0 {
		return slices.Compact(further)
	}
	merged := append(sorted, further...)
	slices.Sort(merged)
	return slices.Compact(merged)
}

// A locator is a subscribed name with dynamic parameters.
type locator struct {
	name       string
	parameters map[string]string
	key        string       // the parameters in one sorted text
	chosen     wire.Variant // without a resource if no variant covers the parameters
	denied     bool         // the client may not have the variant
	owed       bool         // the client asked for it and is not answered yet
}

func newLocator(name string, parameters map[string]string) locator {
	return locator{name: name, parameters: parameters, key: parametersKey(parameters)}
}

// parametersKey returns a text that is equal for equal parameters only.
func parametersKey(parameters map[string]string) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		b.WriteString(key)
		b.WriteByte(0)
		b.WriteString(parameters[key])
		b.WriteByte(0)
	}
	return b.String()
}

func compareLocators(a, b locator) int {
	if c := strings.Compare(a.name, b.name); c != 0 {
		return c
	}
	return strings.Compare(a.key, b.key)
}

// locate adds a locator, if it is new, and returns it.
func (s *subscription) locate(l locator) *locator {
	at, found := slices.BinarySearchFunc(s.locators, l, compareLocators)
	if !found {
		s.locators = slices.Insert(s.locators, at, l)
	}
	return &s.locators[at]
}

// unlocate removes a locator and returns it.
func (s *subscription) unlocate(l locator) (locator, bool) {
	at, found := slices.BinarySearchFunc(s.locators, l, compareLocators)
	if !found {
		return locator{}, false
	}
	gone := s.locators[at]
	s.locators = slices.Delete(s.locators, at, at+1)
	return gone, true
}
