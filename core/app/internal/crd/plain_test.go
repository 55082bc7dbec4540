package crd_test

import "iter"

// plain is a conf for which confgen was not asked for a schema.
type plain struct{}

func (*plain) Equal(*plain) bool { return true }

type plainMerger struct{ conf plain }

func (m *plainMerger) Fill(*plain, int) bool          { return true }
func (m *plainMerger) Conf() *plain                   { return &m.conf }
func (m *plainMerger) Origins(dst []int) []int        { return dst }
func (m *plainMerger) Leaves() iter.Seq2[string, int] { return func(func(string, int) bool) {} }
