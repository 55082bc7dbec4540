package emit

import "strings"

// call prints a call of a support function, and requests the function.
func (e *emitter) call(function string, args ...string) string {
	return e.supportName(function) + "(" + strings.Join(args, ", ") + ")"
}

// concat requests the state of lists that are appended to, and returns the name
// of the generic type.
func (e *emitter) concat() string { return e.supportName("mergeAppended") }

// supportName requests a support function, and returns its name in the package.
func (e *emitter) supportName(function string) string {
	name, fresh := e.names.of("support "+function, function)
	if fresh {
		e.queue = append(e.queue, func() {
			parts := parts{"name": name}
			if function == "mergeAppended" {
				parts["run"], _ = e.names.of("support run", "mergeRun")
			}
			e.support = append(e.support, e.expand(support[function], parts))
		})
	}
	return name
}

// support are the declarations that do not depend on a type.
var support = map[string]string{
	"mergeLeaf": `
// {{.name}} yields the leaf path+name, if an item set it.
func {{.name}}(path, name string, item int32, yield func(string, int) bool) bool {
	return item == 0 || yield(path+name, int(item)-1)
}`,

	"mergeOrigin": `
// {{.name}} adds an item, if there is one, to dst[base:], which is ascending.
func {{.name}}(dst []int, base int, item int32) []int {
	if item == 0 {
		return dst
	}
	i, found := {{qual "slices" "BinarySearch"}}(dst[base:], int(item)-1)
	if found {
		return dst
	}
	return {{qual "slices" "Insert"}}(dst, base+i, int(item)-1)
}`,

	"mergeRoom": `
// {{.name}} returns room, or a larger copy, with n free elements before the last used ones.
func {{.name}}[E any](room []E, used, n int) []E {
	if len(room)-used >= n {
		return room
	}
	grown := make([]E, used+max(used, n))
	copy(grown[len(grown)-used:], room[len(room)-used:])
	return grown
}`,

	"mergeEscape": `
// {{.name}} escapes a key for a JSON pointer.
func {{.name}}(key string) string {
	return {{qual "strings" "ReplaceAll"}}({{qual "strings" "ReplaceAll"}}(key, "~", "~0"), "/", "~1")
}`,

	// Lists that are appended to are filled from the highest priority and grow at
	// their front; each conf adds one run of elements.
	"mergeAppended": `
// {{.name}} is the state of a list that is appended to.
type {{.name}}[E any] struct {
	at   int32      // the highest item that has the list
	room []E        // the list is its end
	runs []{{.run}} // from the end of the list to its front
}

// {{.run}} is a run of elements of one item.
type {{.run}} struct {
	item int32
	n    int
}

func (s *{{.name}}[E]) fill(list, lower []E, item int32) []E {
	if lower == nil {
		return list
	}
	if s.at == 0 {
		s.at = item
		list = []E{}
	}
	if len(lower) == 0 {
		return list
	}
	s.runs = append(s.runs, {{.run}}{item, len(lower)})
	s.room = {{support "mergeRoom"}}(s.room, len(list), len(lower))
	list = s.room[len(s.room)-len(list)-len(lower):]
	copy(list, lower)
	return list
}

func (s *{{.name}}[E]) top() int32 {
	if len(s.runs) == 0 {
		return s.at
	}
	return s.runs[0].item
}

func (s *{{.name}}[E]) origins(dst []int, base int) []int {
	if len(s.runs) == 0 {
		return {{support "mergeOrigin"}}(dst, base, s.at)
	}
	for _, run := range s.runs {
		dst = {{support "mergeOrigin"}}(dst, base, run.item)
	}
	return dst
}

func (s *{{.name}}[E]) leaves(path string, yield func(string, int) bool) bool {
	if len(s.runs) == 0 {
		return {{support "mergeLeaf"}}(path, "", s.at, yield)
	}
	i := 0
	for _, run := range {{qual "slices" "Backward"}}(s.runs) {
		for range run.n {
			if !yield(path+"/"+{{qual "strconv" "Itoa"}}(i), int(run.item)-1) {
				return false
			}
			i++
		}
	}
	return true
}`,

	"hashWord": `
func {{.name}}(d *{{digest}}, x uint64) {
	var b [8]byte
	{{qual "encoding/binary" "LittleEndian"}}.PutUint64(b[:], x)
	d.Write(b[:])
}`,

	"hashString": `
func {{.name}}(d *{{digest}}, x string) {
	{{support "hashWord"}}(d, uint64(len(x)))
	d.WriteString(x)
}`,

	"hashBool": `
func {{.name}}(d *{{digest}}, x bool) {
	if x {
		{{support "hashWord"}}(d, 1)
	} else {
		{{support "hashWord"}}(d, 0)
	}
}`,

	"hashFloat": `
func {{.name}}(d *{{digest}}, x float64) {
	if x == 0 {
		x = 0 // -0 equals 0
	}
	{{support "hashWord"}}(d, {{qual "math" "Float64bits"}}(x))
}`,
}
