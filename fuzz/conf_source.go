package fuzz

import (
	"encoding/json"
	"reflect"

	gofuzz "github.com/google/gofuzz"

	"github.com/meshmatch/meshmatch/core/resource"
)

// confSource makes a Conf from decisions, or returns nil.
type confSource func(decisions []byte) resource.Conf

// confSources returns the two sources of Confs of a type on which laws are checked. The first
// source makes values of a file, which are small and often equal.
func confSources(letters *alphabet, t reflect.Type) [2]confSource {
	return [2]confSource{
		func(decisions []byte) resource.Conf {
			c := &choices{decisions}
			return (&confMaker{alphabet: letters, choose: c.intn}).conf(t)
		},
		func(decisions []byte) resource.Conf { return anyConf(decisions, t) },
	}
}

// The share of unset pointers, lists and maps in a Conf of gofuzz, and the greatest length of
// lists and maps.
const (
	unsetShare  = 0.4
	maxElements = 3
)

// anyConf returns a Conf that gofuzz makes. It has numbers, texts and combinations that no file
// has, but which a program can set. It is nil for a type that gofuzz cannot make, such as one
// with an interface. It is also nil for a value without JSON, such as a number that names
// nothing.
func anyConf(decisions []byte, t reflect.Type) resource.Conf {
	conf := reflect.New(t).Interface()
	fuzzer := gofuzz.NewFromGoFuzz(decisions).NilChance(unsetShare).NumElements(0, maxElements).MaxDepth(2 * maxDepth)
	err := caught(func() error {
		fuzzer.Fuzz(conf)
		_, err := json.Marshal(conf)
		return err
	})
	if err != nil {
		return nil
	}
	return conf
}
