package kubetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/meshmatch/meshmatch/core/app/internal/crd"
	"github.com/meshmatch/meshmatch/core/internal/enforce/ocm"
	"github.com/meshmatch/meshmatch/core/resource"
)

// Object is an object of Kubernetes, as JSON decodes it.
type Object map[string]any

// Install creates the CustomResourceDefinitions of kinds, and waits until the API server
// serves them.
func (c *Cluster) Install(kinds *resource.Kinds) {
	c.t.Helper()
	c.install(crd.Definitions(kinds, ocm.Documents()))
}

// InstallLoose is [Cluster.Install] with schemas that accept every object, like those
// that Kuma installs for its older kinds.
func (c *Cluster) InstallLoose(kinds *resource.Kinds) {
	c.t.Helper()
	all := crd.Definitions(kinds, ocm.Documents())
	for i := range all {
		all[i].Spec.Versions[0].Schema.OpenAPIV3Schema = map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	}
	c.install(all)
}

func (c *Cluster) install(all []crd.Definition) {
	c.t.Helper()
	const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	for i := range all {
		body, err := json.Marshal(all[i])
		if err != nil {
			c.t.Fatal(err)
		}
		if status, answer := c.Do(http.MethodPost, path, body); status != http.StatusCreated && status != http.StatusConflict {
			c.t.Fatalf("%s: %d %s", all[i].Metadata.Name, status, message(answer))
		}
	}
	for i := range all {
		spec := &all[i].Spec
		list := fmt.Sprintf("/apis/%s/%s/%s?limit=1", spec.Group, spec.Versions[0].Name, spec.Names.Plural)
		c.Wait("the API server serves "+all[i].Metadata.Name, func() bool {
			status, _ := c.Do(http.MethodGet, list, nil)
			return status == http.StatusOK
		})
	}
}

// Wait waits until a condition holds.
func (c *Cluster) Wait(what string, holds func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("%s: not within a minute", what)
		}
	}
}

// Create creates an object. Query is empty or such as dryRun=All. It returns the message of
// an error, or "".
func (c *Cluster) Create(o Object, query string) string {
	c.t.Helper()
	body, err := json.Marshal(o)
	if err != nil {
		c.t.Fatal(err)
	}
	status, answer := c.Do(http.MethodPost, o.Collection()+"?fieldValidation=Strict&"+query, body)
	if status == http.StatusCreated {
		return ""
	}
	return message(answer)
}

// Apply creates or replaces an object.
func (c *Cluster) Apply(o Object) {
	c.t.Helper()
	if text := c.Create(o, ""); text == "" {
		return
	}
	status, answer := c.Do(http.MethodGet, o.Path(), nil)
	if status != http.StatusOK {
		c.t.Fatalf("%s: %s", o.Path(), c.Create(o, ""))
	}
	var stored struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(answer, &stored); err != nil {
		c.t.Fatal(err)
	}
	o.metadata()["resourceVersion"] = stored.Metadata.ResourceVersion
	defer delete(o.metadata(), "resourceVersion")
	body, err := json.Marshal(o)
	if err != nil {
		c.t.Fatal(err)
	}
	if status, answer := c.Do(http.MethodPut, o.Path(), body); status != http.StatusOK {
		c.t.Fatalf("%s: %s", o.Path(), message(answer))
	}
}

// Delete deletes an object, if it exists.
func (c *Cluster) Delete(o Object) {
	c.t.Helper()
	if status, answer := c.Do(http.MethodDelete, o.Path(), nil); status != http.StatusOK && status != http.StatusNotFound {
		c.t.Fatalf("%s: %s", o.Path(), message(answer))
	}
}

// DeleteAll deletes all objects of the kind and the namespace of an object.
func (c *Cluster) DeleteAll(o Object) {
	c.t.Helper()
	if status, answer := c.Do(http.MethodDelete, o.Collection(), nil); status != http.StatusOK {
		c.t.Fatalf("%s: %s", o.Collection(), message(answer))
	}
}

// message returns the message of a Status.
func message(answer []byte) string {
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(answer, &status) != nil || status.Message == "" {
		return string(answer)
	}
	return status.Message
}

// metadata returns the metadata, which is added if there is none.
func (o Object) metadata() map[string]any {
	m, ok := o["metadata"].(map[string]any)
	if !ok {
		m = map[string]any{}
		o["metadata"] = m
	}
	return m
}

// Collection returns the path of the objects of the same kind.
func (o Object) Collection() string {
	version, kind := fmt.Sprint(o["apiVersion"]), fmt.Sprint(o["kind"])
	path := "/apis/" + version
	if version == "v1" {
		path = "/api/v1"
	}
	if namespace, ok := o.metadata()["namespace"]; ok {
		path += fmt.Sprintf("/namespaces/%s", namespace)
	}
	return path + "/" + crd.Plural(kind)
}

// Path returns the path of the object.
func (o Object) Path() string { return o.Collection() + fmt.Sprintf("/%s", o.metadata()["name"]) }

// FromDocument returns the object of a document in either spelling. Objects that need a
// namespace and have none are in "default".
func FromDocument(document []byte) (Object, error) {
	var in map[string]any
	if err := json.Unmarshal(document, &in); err != nil {
		return nil, err
	}
	o := Object(in)
	if _, universal := in["type"]; universal {
		o = fromUniversal(in)
	}
	shape := shapes[fmt.Sprint(o["kind"])]
	if _, there := o.metadata()["namespace"]; !there && !shape.ClusterScoped {
		o.metadata()["namespace"] = "default"
	}
	return o, nil
}

// shapes are the shapes of the kinds that are not policies, whose objects have a
// namespace.
var shapes = func() map[string]resource.Shape {
	all := map[string]resource.Shape{}
	for _, shape := range resource.Shapes(resource.NewKinds(), ocm.Documents()) {
		all[shape.Kind] = shape
	}
	return all
}()

func fromUniversal(in map[string]any) Object {
	metadata := map[string]any{"name": in["name"]}
	labels, _ := in["labels"].(map[string]any)
	if namespace, ok := labels[resource.NamespaceLabel]; ok {
		metadata["namespace"] = namespace
	}
	o := Object{"apiVersion": resource.KumaGroup + "/" + resource.KumaVersion, "kind": in["type"], "metadata": metadata}
	if mesh, ok := in["mesh"]; ok && !shapes[fmt.Sprint(in["type"])].ClusterScoped {
		if labels == nil {
			labels = map[string]any{}
		}
		labels[resource.MeshLabel] = mesh
	}
	if labels != nil {
		metadata["labels"] = labels
	}
	if spec, ok := in["spec"]; ok {
		o["spec"] = spec
		return o
	}
	spec := map[string]any{}
	for name, value := range in {
		switch name {
		case "type", "name", "mesh", "labels", "creationTime", "modificationTime", "kri", "status":
		default:
			spec[name] = value
		}
	}
	if len(spec) > 0 {
		o["spec"] = spec
	}
	return o
}
