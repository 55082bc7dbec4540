package main

import (
	"encoding/json"
	"fmt"

	mesh_proto "github.com/kumahq/kuma/api/mesh/v1alpha1"
	core_mesh "github.com/kumahq/kuma/pkg/core/resources/apis/mesh"
	meshexternalservice "github.com/kumahq/kuma/pkg/core/resources/apis/meshexternalservice/api/v1alpha1"
	meshmultizoneservice "github.com/kumahq/kuma/pkg/core/resources/apis/meshmultizoneservice/api/v1alpha1"
	meshservice "github.com/kumahq/kuma/pkg/core/resources/apis/meshservice/api/v1alpha1"
	"github.com/kumahq/kuma/pkg/core/resources/model/rest"
	"github.com/kumahq/kuma/pkg/core/resources/registry"
	"github.com/kumahq/kuma/pkg/plugins/policies/core/matchers"
	"github.com/kumahq/kuma/pkg/plugins/policies/core/rules"
	meshhttproute "github.com/kumahq/kuma/pkg/plugins/policies/meshhttproute/api/v1alpha1"
	meshtimeout "github.com/kumahq/kuma/pkg/plugins/policies/meshtimeout/api/v1alpha1"
	xds_context "github.com/kumahq/kuma/pkg/xds/context"
)

// register adds the types of resources that are used, and those that package rules asks for.
func register() {
	registry.RegisterType(meshtimeout.MeshTimeoutResourceTypeDescriptor)
	registry.RegisterType(meshhttproute.MeshHTTPRouteResourceTypeDescriptor)
	registry.RegisterType(meshservice.MeshServiceResourceTypeDescriptor)
	registry.RegisterType(meshexternalservice.MeshExternalServiceResourceTypeDescriptor)
	registry.RegisterType(meshmultizoneservice.MeshMultiZoneServiceResourceTypeDescriptor)
}

// A worker has the resources, and the results of the last work.
type worker struct {
	dataplane *core_mesh.DataplaneResource
	resources xds_context.Resources
	results   []any // confs; nil for an outbound that has none
}

// load replaces the resources: MeshTimeouts, and one dataplane.
func (w *worker) load(resources []json.RawMessage) error {
	list := &meshtimeout.MeshTimeoutResourceList{}
	*w = worker{resources: xds_context.NewResources()}
	w.resources.MeshLocalResources[meshtimeout.MeshTimeoutType] = list
	for _, text := range resources {
		plain, err := withoutMeshNames(text)
		if err != nil {
			return err
		}
		r, err := rest.JSON.UnmarshalCore(plain)
		if err != nil {
			return fmt.Errorf("%w: %.200s", err, text)
		}
		if d, ok := r.(*core_mesh.DataplaneResource); ok {
			w.dataplane = d
		} else if err := list.AddItem(r); err != nil {
			return err
		}
	}
	return nil
}

// withoutMeshNames removes the names of targetRefs of the kinds Mesh and MeshSubset, which Kuma refuses: the
// mesh is that of the policy.
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

// rules computes the conf of each outbound of the dataplane: the policies that select it are
// found and put in order, their items become rules, and the rule of the service is looked up.
func (w *worker) rules() error {
	matched, err := matchers.MatchedPolicies(meshtimeout.MeshTimeoutType, w.dataplane, w.resources)
	if err != nil {
		return err
	}
	if len(matched.Warnings) > 0 {
		return fmt.Errorf("%s", matched.Warnings)
	}
	w.results = w.results[:0]
	for _, out := range w.dataplane.Spec.GetNetworking().GetOutbound() {
		var conf any
		if rule := matched.ToRules.Rules.Compute(rules.MeshService(out.GetTags()[mesh_proto.ServiceTag])); rule != nil {
			conf = rule.Conf
		}
		w.results = append(w.results, conf)
	}
	return nil
}

// merge merges confs of MeshTimeout.
func (w *worker) merge(confs []any) (err error) {
	w.results, err = rules.MergeConfs(confs)
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

// confs returns the last results.
func (w *worker) confs() ([]json.RawMessage, error) {
	var list []json.RawMessage
	for _, conf := range w.results {
		text, err := json.Marshal(conf)
		if err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, nil
}
