package partition

import "testing"

// FuzzPartition decodes items and contents from bytes, one or two per decision,
// over small alphabets. It compares every form with the merge for every client.
// Run it with
//
//	go test -fuzz FuzzPartition ./core/internal/partition
//
//fuzz:executions 20000
func FuzzPartition(f *testing.F) {
	f.Add([]byte("\x03\x00\x07\x01\x00\x03\x01\x04\x07"))
	f.Add([]byte("Mesh allow; a deny; b deny"))
	f.Add([]byte("\x05\xff\x10\x20\x31\x42\x53\x64\x75\x86\x97\xa8\xb9\xca"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := decoder(data)
		items := make([]Tags, in.next(6))
		predicates := make([]Predicate, len(items))
		fields, contents := make(overriding, len(items)), make(anonymous, len(items))
		for i := range items {
			items[i] = in.tags()
			predicates[i] = in.predicate(3)
			fields[i] = uint8(in.next(8))
			for field := range contents[i] {
				contents[i][field] = uint8(in.next(3))
			}
		}
		checkOrdered(t, items, fields)
		checkOrdered(t, items, contents)
		checkPartition(t, predicatesOf(items), fields)
		checkPartition(t, predicates, fields)
		checkPartition(t, predicates, contents)
		if len(predicates) > 1 {
			checkSets(t, predicates)
		}
	})
}

// decoder reads decisions; after the last byte, all are 0.
type decoder []byte

func (d *decoder) next(n int) int {
	if len(*d) == 0 {
		return 0
	}
	b := (*d)[0]
	*d = (*d)[1:]
	return int(b) % n
}

func (d *decoder) tags() Tags {
	tags := Tags{}
	for _, key := range testKeys {
		if value := d.next(4); value > 0 {
			tags[key] = [...]string{"x", "y", Any}[value-1]
		}
	}
	return tags
}

func (d *decoder) predicate(depth int) Predicate {
	kind := d.next(8)
	if depth == 0 {
		kind %= 4
	}
	switch kind {
	case 0, 1, 2:
		return Equal(testKeys[d.next(3)], testValues[d.next(2)])
	case 3:
		return Present(testKeys[d.next(3)])
	case 4:
		return Not(d.predicate(depth - 1))
	}
	members := make([]Predicate, d.next(4))
	for i := range members {
		members[i] = d.predicate(depth - 1)
	}
	if kind == 5 {
		return Or(members...)
	}
	return And(members...)
}
