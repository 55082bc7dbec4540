package fuzz

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/strict"
)

// strangeConf has a field that accepts none of the built-in texts.
type strangeConf struct {
	Word strangeWord `json:"word"`
}

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

func (c *refusingConf) Validate(at *diag.At) {
	at.Field("count").Errorf(diag.BadValue, "", "must be more than 9")
}

// strangeType can decode; it is never merged.
type strangeType[T any] struct{ resource.ConfType }

func (strangeType[T]) Decode(in *strict.Value, except ...string) resource.Conf {
	conf := new(T)
	if !strict.DecodeExcept(in, conf, except...) {
		return nil
	}
	return conf
}

func (strangeType[T]) NewMerger() resource.Merger { return emptyMerger[T]{} }

type emptyMerger[T any] struct{}

func (emptyMerger[T]) Fill(resource.Conf, int) bool   { return false }
func (emptyMerger[T]) Conf() resource.Conf            { return new(T) }
func (emptyMerger[T]) Origins(dst []int) []int        { return dst }
func (emptyMerger[T]) Leaves() iter.Seq2[string, int] { return func(func(string, int) bool) {} }
