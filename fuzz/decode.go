package fuzz

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
)

// decodeField reads a value of a type from a text in YAML, as a field of a document.
func decodeField(t reflect.Type, text string) (reflect.Value, error) {
	document := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "V", Type: t, Tag: `json:"v"`}}))
	err := conf.Unmarshal([]byte("v: "+text), document.Interface())
	return document.Elem().Field(0), err
}

// decodeConf returns the Conf of a document.
func decodeConf(section *resource.Section, document []byte) (resource.Conf, error) {
	t, err := confType(section)
	if err != nil {
		return nil, err
	}
	c := reflect.New(t).Interface()
	return c, conf.Unmarshal(document, c)
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
