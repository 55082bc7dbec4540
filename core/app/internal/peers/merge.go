package main

import (
	"context"
	"encoding/json"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/meshmatch/meshmatch/core/internal/shape"
	"github.com/meshmatch/meshmatch/core/kind/meshtimeout"
	"github.com/meshmatch/meshmatch/core/resource"
	"github.com/meshmatch/meshmatch/core/results"
)

// merges compares merging of confs with the two libraries by which gateways and meshes merge
// policies: each conf is marshalled, applied as a patch, and the result is decoded.
func merges() []comparison {
	var list []comparison
	for _, m := range shape.Merges() {
		list = append(list, comparison{
			subject: "Merging: timeouts, later ones override",
			label:   "merge, " + m.Name,
			work:    "merge", input: m.Name, source: m.Source, unit: "s", kuma: true,
			note:    "meshmatch also returns which policy set each field; the patches do not. They are applied as Envoy Gateway does it: each conf is marshalled, and the result is decoded",
			prepare: func(ctx context.Context, _ size) (*contest, error) { return mergeConfs(ctx, m.Confs) },
		})
	}
	return list
}

func mergeConfs(ctx context.Context, confs []*meshtimeout.Conf) (*contest, error) {
	merge := command{Do: "merge"}
	for _, c := range confs {
		text, err := json.Marshal(c)
		if err != nil {
			return nil, err
		}
		merge.Confs = append(merge.Confs, text)
	}
	items := make([]results.Contribution, len(confs))
	for i, c := range confs {
		items[i] = results.Contribution{Origin: results.Origin{Index: i}, Conf: c}
	}
	section := meshtimeout.Kind().To.Conf
	c := &contest{contenders: []contender{
		merger(meshmatch, func() (*meshtimeout.Conf, error) {
			return results.Merge(section, items).Conf.(*meshtimeout.Conf), nil
		}),
		merger("JSON merge patch", patcher(confs, jsonpatch.MergePatch)),
		merger("Kubernetes strategic merge patch", patcher(confs, func(original, patch []byte) ([]byte, error) {
			return strategicpatch.StrategicMergePatch(original, patch, meshtimeout.Conf{})
		})),
	}}
	return c, c.addKuma(ctx, &resource.Set{}, merge, confsText)
}

func merger(name string, merge func() (*meshtimeout.Conf, error)) contender {
	return contender{
		name: name,
		answer: func() (string, error) {
			merged, err := merge()
			if err != nil {
				return "", err
			}
			return confsText([]*meshtimeout.Conf{merged})
		},
		operate: repeat(func() error {
			_, err := merge()
			return err
		}),
	}
}

func patcher(confs []*meshtimeout.Conf, apply func(original, patch []byte) ([]byte, error)) func() (*meshtimeout.Conf, error) {
	return func() (*meshtimeout.Conf, error) {
		text := []byte("{}")
		for _, c := range confs {
			patch, err := json.Marshal(c)
			if err != nil {
				return nil, err
			}
			if text, err = apply(text, patch); err != nil {
				return nil, err
			}
		}
		merged := new(meshtimeout.Conf)
		return merged, json.Unmarshal(text, merged)
	}
}
