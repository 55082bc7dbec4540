package fuzz

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/resource"
)

// pool contains Confs of one section of a kind as trees of documents. All of them
// decode, so one byte chooses a whole valid Conf.
type pool []map[string]any

const (
	poolSize  = 64
	poolTries = 10 * poolSize
	poolSeed  = 1
)

func newPool(section *resource.Section, letters *alphabet) (pool, error) {
	random := rand.New(rand.NewPCG(poolSeed, poolSeed))
	maker := &confMaker{alphabet: letters, choose: random.IntN, valid: true, refused: refusals{}}
	t, err := confType(section)
	if err != nil {
		return nil, err
	}
	if err := letters.cover(t); err != nil {
		return nil, err
	}
	var p pool
	for try := 0; try < poolTries && len(p) < poolSize; try++ {
		if conf := maker.conf(t); conf != nil {
			if tree, err := fileForm(section, conf); err == nil {
				p = append(p, tree)
			} else {
				maker.refused.add(t, err)
			}
		}
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("fuzz: no valid Conf was found in %d tries: parts of it were refused %s; pass values of the fields, in YAML, by WithTexts", poolTries, maker.refused)
	}
	return append(p, collecting(maker, section, t)...), nil
}

// collecting returns Confs of a type with a reference to a collector, because few random ones
// have one. It returns none for a type without such references.
func collecting(maker *confMaker, section *resource.Section, t reflect.Type) (p pool) {
	if !t.Implements(collectorUser) && !reflect.PointerTo(t).Implements(collectorUser) {
		return nil
	}
	for try := 0; try < poolTries && len(p) < poolSize/4; try++ {
		c := maker.conf(t)
		if c == nil || !conf.RefersToCollector(c) {
			continue
		}
		if tree, err := fileForm(section, c); err == nil {
			p = append(p, tree)
		}
	}
	return p
}

var collectorUser = reflect.TypeFor[interface {
	CollectorRefs() iter.Seq2[string, *conf.CollectorRef]
}]()

// fileForm returns a conf as the tree of a document, or an error if it is not valid in a
// file.
func fileForm(section *resource.Section, conf any) (tree map[string]any, err error) {
	document, err := json.Marshal(conf)
	if err == nil {
		_, err = decodeConf(section, document)
	}
	if err == nil {
		err = yaml.Unmarshal(document, &tree) // unlike package json, it decodes integers as integers
	}
	return tree, err
}

// confType returns the struct type of a section's Confs: the type of the result of an
// empty merge.
func confType(section *resource.Section) (reflect.Type, error) {
	conf := section.Conf.NewMerger().Conf()
	t := reflect.TypeOf(conf)
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("fuzz: a Conf is a %T and not a pointer to a struct", conf)
	}
	return t.Elem(), nil
}
