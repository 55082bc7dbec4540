package fuzz

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/diag"
)

// strangeConf has a field that accepts none of the built-in texts.
type strangeConf struct {
	Word strangeWord `json:"word"`
}

func (c *strangeConf) Equal(o *strangeConf) bool { return *c == *o }

type strangeWord string

func (w strangeWord) Validate(at *diag.At) {
	if w != "strange" {
		at.Errorf(diag.BadValue, "", "must be strange")
	}
}

// refusingConf accepts none of the values that its field accepts.
type refusingConf struct {
	Count int `json:"count"`
}

func (c *refusingConf) Equal(o *refusingConf) bool { return *c == *o }

func (c *refusingConf) Validate(at *diag.At) {
	at.Field("count").Errorf(diag.BadValue, "", "must be more than 9")
}

// emptyMerger merges nothing.
type emptyMerger[T any] struct{}

func (*emptyMerger[T]) Fill(*T, int) bool              { return false }
func (*emptyMerger[T]) Conf() *T                       { return new(T) }
func (*emptyMerger[T]) Origins(dst []int) []int        { return dst }
func (*emptyMerger[T]) Leaves() iter.Seq2[string, int] { return func(func(string, int) bool) {} }
