package fuzz

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/strict"
)

// decodes reads a field of a document into a pointer, or the whole document if
// field is "".
func decodes(document, field string, target any) error {
	return decodeWith([]byte(document), func(in *strict.Value) {
		if field != "" {
			in = in.Field(field)
		}
		strict.Decode(in, target)
	})
}

// decodeConf returns the Conf of a document.
func decodeConf(section *resource.Section, document []byte) (conf resource.Conf, err error) {
	err = decodeWith(document, func(in *strict.Value) { conf = section.Conf.Decode(in) })
	return conf, err
}

func decodeWith(document []byte, decode func(*strict.Value)) error {
	var sink diag.Sink
	docs := slices.Collect(strict.Documents("value", strict.Chunks(document, 1)[0], strict.DefaultLimits, &sink))
	if len(docs) == 1 {
		decode(docs[0].Root())
	}
	return sink.Err()
}

// refusals counts the reasons why documents were rejected.
type refusals map[string]int

// add counts the first diagnostic of an error about a value of a type, without
// its position.
func (r refusals) add(t reflect.Type, err error) {
	reason := err.Error()
	var all diag.Errors
	if errors.As(err, &all) && len(all) > 0 {
		reason = all[0].Path + ": " + all[0].Message()
	}
	r[t.String()+": "+reason]++
}

// String returns the most frequent reasons.
func (r refusals) String() string {
	const most = 3
	reasons := slices.SortedFunc(maps.Keys(r), func(a, b string) int {
		return cmp.Or(cmp.Compare(r[b], r[a]), cmp.Compare(a, b))
	})
	for i, reason := range reasons {
		reasons[i] = fmt.Sprintf("%d times %q", r[reason], reason)
	}
	return strings.Join(reasons[:min(most, len(reasons))], ", ")
}
