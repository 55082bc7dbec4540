package server

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/meshmatch/meshmatch/core/internal/sorted"
	"github.com/meshmatch/meshmatch/core/xds/wire"
)

const wildcard = "*"

// A subscription is what a stream asks for in one type. Each change of it sorts what is
// new and merges it in one step: it costs sorting the request, and one pass
// over what is subscribed.
type subscription struct {
	all        bool      // the wildcard, explicit or implied by an empty first request
	names      []string  // sorted
	locators   []locator // sorted by compareLocators
	parameters map[string]*parameters
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

// The bytes that are charged for an element in addition to its text: about what the server
// keeps for it.
const (
	nameBytes      = 64
	locatorBytes   = 128
	parameterBytes = 64
)

// bytes returns the size of the subscription in memory, about.
func (s *subscription) bytes() int {
	n := textBytes(s.names) + locatorBytes*len(s.locators)
	for i := range s.locators {
		n += len(s.locators[i].name)
	}
	for key, p := range s.parameters {
		n += 2*len(key) + parameterBytes*(1+len(p.values))
	}
	return n
}

// textBytes returns the size of names in memory, about.
func textBytes(names []string) int {
	n := nameBytes * len(names)
	for _, name := range names {
		n += len(name)
	}
	return n
}

// union returns the names of both slices, sorted and without duplicates. The first one
// is sorted and may be changed; the second one is sorted in place and may be kept.
func union(known, further []string) []string {
	if len(further) == 0 {
		return known
	}
	slices.Sort(further)
	further = slices.Compact(further)
	if len(known) == 0 {
		return further
	}
	if known[len(known)-1] < further[0] {
		return append(known, further...)
	}
	merged := make([]string, 0, len(known)+len(further))
	for a, b := range sorted.Join(known, further, strings.Compare) {
		merged = append(merged, cmp.Or(a, b))
	}
	return merged
}

// A locator is a subscribed name with dynamic parameters.
type locator struct {
	name       string
	parameters *parameters
	chosen     wire.Variant // without a resource if no variant covers the parameters
	denied     bool         // the client may not have the variant
	owed       bool         // the client asked for it and is not answered yet
	unknown    bool         // a partial state cannot tell yet what it chooses
	kept       bool         // what it chooses waits for another locator of the name (see switching)
}

// parameters are dynamic parameters, shared by the locators of a subscription that have
// equal ones.
type parameters struct {
	values map[string]string
	key    string // the parameters in one text
	used   bool   // see subscription.sweep
	// allowed is what Access decided in the generation with the number asked.
	asked   uint64
	allowed bool
}

// parametersKey returns a text that is equal for equal parameters only: each key and
// each value follows its length.
func parametersKey(values map[string]string) string {
	var b []byte
	for _, key := range slices.Sorted(maps.Keys(values)) {
		b = binary.AppendUvarint(b, uint64(len(key)))
		b = append(b, key...)
		b = binary.AppendUvarint(b, uint64(len(values[key])))
		b = append(b, values[key]...)
	}
	return string(b)
}

func compareLocators(a, b locator) int {
	if c := strings.Compare(a.name, b.name); c != 0 || a.parameters == b.parameters {
		return c
	}
	return strings.Compare(a.parameters.key, b.parameters.key)
}

// share returns the parameters of the subscription that are equal to the given ones.
func (s *subscription) share(values map[string]string) *parameters {
	key := parametersKey(values)
	p := s.parameters[key]
	if p == nil {
		p = &parameters{values: values, key: key}
		if s.parameters == nil {
			s.parameters = map[string]*parameters{}
		}
		s.parameters[key] = p
	}
	return p
}

// read returns the locators of a request, sorted and without duplicates.
func (s *subscription) read(list []*discoveryv3.ResourceLocator) []locator {
	read := make([]locator, len(list))
	for i, l := range list {
		read[i] = locator{name: l.GetName(), parameters: s.share(l.GetDynamicParameters())}
	}
	slices.SortFunc(read, compareLocators)
	return slices.CompactFunc(read, func(a, b locator) bool { return compareLocators(a, b) == 0 })
}

// locate adds locators, and makes each of them owed.
func (s *subscription) locate(list []*discoveryv3.ResourceLocator) {
	fresh := s.read(list)
	merged := make([]locator, 0, len(s.locators)+len(fresh))
	for l, asked := range sorted.Join(s.locators, fresh, compareLocators) {
		if l == (locator{}) {
			l = asked
		}
		l.owed = l.owed || asked != locator{}
		merged = append(merged, l)
	}
	s.locators = merged
}

// unlocate removes locators, and returns those that were subscribed, sorted.
func (s *subscription) unlocate(list []*discoveryv3.ResourceLocator) (gone []locator) {
	if len(list) == 0 {
		return nil
	}
	unwanted := s.read(list)
	s.locators = slices.DeleteFunc(s.locators, func(l locator) bool {
		_, found := slices.BinarySearchFunc(unwanted, l, compareLocators)
		if found {
			gone = append(gone, l)
		}
		return found
	})
	s.sweep()
	return gone
}

// hasLocatorOf reports whether a name is subscribed by locator.
func (s *subscription) hasLocatorOf(name string) bool {
	_, found := slices.BinarySearchFunc(s.locators, name, func(l locator, name string) int { return strings.Compare(l.name, name) })
	return found
}

// sweep drops the parameters that no locator has.
func (s *subscription) sweep() {
	for i := range s.locators {
		s.locators[i].parameters.used = true
	}
	maps.DeleteFunc(s.parameters, func(_ string, p *parameters) bool {
		used := p.used
		p.used = false
		return !used
	})
}
