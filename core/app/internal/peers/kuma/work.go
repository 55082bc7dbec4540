package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/go-logr/logr"
	mesh_proto "github.com/kumahq/kuma/api/mesh/v1alpha1"
	"github.com/kumahq/kuma/pkg/core"
	"github.com/kumahq/kuma/pkg/core/plugins"
	"github.com/kumahq/kuma/pkg/core/resources/apis"
	core_mesh "github.com/kumahq/kuma/pkg/core/resources/apis/mesh"
	"github.com/kumahq/kuma/pkg/core/resources/model"
	"github.com/kumahq/kuma/pkg/core/resources/model/rest"
	"github.com/kumahq/kuma/pkg/core/resources/registry"
	"github.com/kumahq/kuma/pkg/core/resources/store"
	"github.com/kumahq/kuma/pkg/plugins/policies"
	"github.com/kumahq/kuma/pkg/plugins/policies/core/matchers"
	"github.com/kumahq/kuma/pkg/plugins/policies/core/rules"
	meshtimeout "github.com/kumahq/kuma/pkg/plugins/policies/meshtimeout/api/v1alpha1"
	xds_context "github.com/kumahq/kuma/pkg/xds/context"
)

// register adds the types and the plugins of all policies, and the types that they refer to.
// Nothing is logged.
func register() {
	core.SetLogger(logr.Discard())
	plugins.InitAll(apis.NameToModule)
	plugins.InitAll(policies.NameToModule)
}

// descriptors returns all types of resources.
func descriptors() []model.ResourceTypeDescriptor { return registry.Global().ObjectDescriptors() }

// A worker has the resources of a mesh, and the results of the last work.
type worker struct {
	resources meshStore
	proxies   *proxyBuilder
	confs     []any // nil for an outbound that has none
	documents []model.Resource
}

// load replaces the resources.
func (w *worker) load(resources []json.RawMessage) error {
	*w = worker{resources: meshStore{}}
	list, err := decodeAll(resources)
	if err != nil {
		return err
	}
	for _, r := range list {
		if err := w.resources.add(r); err != nil {
			return err
		}
	}
	w.proxies, err = newProxyBuilder(w.resources)
	return err
}

// decode returns a resource in Kuma's universal format.
func decode(text json.RawMessage) (model.Resource, error) {
	plain, err := withoutMeshNames(text)
	if err != nil {
		return nil, err
	}
	r, err := rest.JSON.UnmarshalCore(plain)
	if err != nil {
		return nil, fmt.Errorf("%w: %.200s", err, text)
	}
	return r, nil
}

func decodeAll(texts []json.RawMessage) ([]model.Resource, error) {
	var list []model.Resource
	for _, text := range texts {
		r, err := decode(text)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// dataplane returns the dataplane of a name.
func (w *worker) dataplane(name string) (*core_mesh.DataplaneResource, error) {
	d := core_mesh.NewDataplaneResource()
	return d, w.resources.Get(context.Background(), d, store.GetByKey(name, ""))
}

// withoutMeshNames removes the names of targetRefs of the kinds Mesh and MeshSubset. Kuma
// refuses them: they mean the mesh of the policy.
func withoutMeshNames(text []byte) ([]byte, error) {
	var document any
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	var visit func(any)
	visit = func(value any) {
		switch value := value.(type) {
		case map[string]any:
			if value["kind"] == "Mesh" || value["kind"] == "MeshSubset" {
				delete(value, "name")
			}
			for _, v := range value {
				visit(v)
			}
		case []any:
			for _, v := range value {
				visit(v)
			}
		}
	}
	visit(document)
	return json.Marshal(document)
}

// rules computes the conf of each outbound of a dataplane: the policies that select it are
// found and put in order, their items become rules, and the rule of the service is looked up.
func (w *worker) rules(d *core_mesh.DataplaneResource) error {
	matched, err := matchers.MatchedPolicies(meshtimeout.MeshTimeoutType, d, xds_context.Resources{MeshLocalResources: xds_context.ResourceMap(w.resources)})
	if err != nil {
		return err
	}
	if len(matched.Warnings) > 0 {
		return fmt.Errorf("%s", matched.Warnings)
	}
	w.confs = w.confs[:0]
	for _, out := range d.Spec.GetNetworking().GetOutbound() {
		var conf any
		if rule := matched.ToRules.Rules.Compute(rules.MeshService(out.GetTags()[mesh_proto.ServiceTag])); rule != nil {
			conf = rule.Conf
		}
		w.confs = append(w.confs, conf)
	}
	return nil
}

// merge merges confs of MeshTimeout.
func (w *worker) merge(confs []any) (err error) {
	w.confs, err = rules.MergeConfs(confs)
	return err
}

func decodeConfs(texts []json.RawMessage) ([]any, error) {
	var confs []any
	for _, text := range texts {
		var c meshtimeout.Conf
		if err := json.Unmarshal(text, &c); err != nil {
			return nil, err
		}
		confs = append(confs, c)
	}
	return confs, nil
}

// encodedConfs returns the confs of the last work.
func (w *worker) encodedConfs() ([]json.RawMessage, error) {
	var list []json.RawMessage
	for _, conf := range w.confs {
		text, err := json.Marshal(conf)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}

// encodedDocuments returns the documents of the last work, in Kuma's universal format.
func (w *worker) encodedDocuments() ([]json.RawMessage, error) {
	var list []json.RawMessage
	for _, r := range w.documents {
		text, err := json.Marshal(rest.From.Resource(r))
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}
