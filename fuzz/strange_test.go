package fuzz

import (
	"iter"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/strict"
)

// strangeConf has a field that accepts nothing that is tried by itself.
type strangeConf struct {
	Word strangeWord `json:"word"`
}

type strangeWord string

func (w strangeWord) Validate(at *strict.At) {
	if w != "strange" {
		at.Errorf("", "must be strange")
	}
}

// strangeType can decode; it is never merged.
type strangeType struct{ resource.ConfType }

func (strangeType) Decode(at *strict.At, except ...string) resource.Conf {
	conf := new(strangeConf)
	if !strict.DecodeExcept(at, conf, except...) {
		return nil
	}
	return conf
}

func (strangeType) NewMerger() resource.Merger { return emptyMerger{} }

type emptyMerger struct{}

func (emptyMerger) Fill(resource.Conf, int) bool   { return false }
func (emptyMerger) Conf() resource.Conf            { return new(strangeConf) }
func (emptyMerger) Origins(dst []int) []int        { return dst }
func (emptyMerger) Leaves() iter.Seq2[string, int] { return func(func(string, int) bool) {} }
