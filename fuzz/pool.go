package fuzz

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/strict"
)

// pool has Confs of one section of a kind as they stand in files, so that one
// byte chooses a whole Conf and every one of them decodes.
type pool []map[string]any

const (
	poolSize  = 64
	poolTries = 10 * poolSize
	poolSeed  = 1
)

func newPool(kind string, section *resource.Section, letters *alphabet) (pool, error) {
	random := rand.New(rand.NewPCG(poolSeed, poolSeed))
	maker := &confMaker{alphabet: letters, choose: random.IntN, valid: true}
	t, err := confType(kind, section)
	if err != nil {
		return nil, err
	}
	if err := letters.cover(t); err != nil {
		return nil, err
	}
	var p pool
	for try := 0; try < poolTries && len(p) < poolSize; try++ {
		if conf := maker.conf(t); conf != nil {
			if tree, ok := fileForm(section, conf); ok {
				p = append(p, tree)
			}
		}
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("fuzz: no valid conf of %s found in %d tries; pass texts for its fields to choose from", kind, poolTries)
	}
	return p, nil
}

// fileForm returns a conf as the tree of a document, if a file may say so.
func fileForm(section *resource.Section, conf any) (tree map[string]any, ok bool) {
	document, err := json.Marshal(conf)
	if err != nil || decodeConf(section, document) == nil {
		return nil, false
	}
	return tree, yaml.Unmarshal(document, &tree) == nil // unlike JSON's, its whole numbers stay whole
}

// decodeConf returns the conf of a document, or nil.
func decodeConf(section *resource.Section, document []byte) resource.Conf {
	var sink strict.Sink
	docs := strict.Parse("conf", strict.Chunks(document, 1)[0], strict.DefaultLimits, &sink)
	if len(docs) != 1 {
		return nil
	}
	conf := section.Conf.Decode(docs[0].Root())
	if sink.Failed() {
		return nil
	}
	return conf
}

// confType returns the struct type of a section's Confs. A ConfType does not
// tell it, but a Conf does.
func confType(kind string, section *resource.Section) (reflect.Type, error) {
	conf := section.Conf.NewMerger().Conf()
	t := reflect.TypeOf(conf)
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("fuzz: a Conf of %s is a %T and not a pointer to a struct", kind, conf)
	}
	return t.Elem(), nil
}
