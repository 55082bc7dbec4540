package source

import (
	"context"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/kind/meshtrafficpermission"
	"github.com/meshmatch/meshmatch/core/resource"
)

// permission is the kind whose unreadable documents deny (SPEC 14.3).
const permission = "MeshTrafficPermission"

// document is what is read of a permission that does not load.
type document map[string]jsontext.Value

// denial returns a policy that denies every client of the inbounds that a document
// selects. It replaces a MeshTrafficPermission that cannot be read and never was good; nil for
// another object. If the targetRef cannot be read, the policy selects everything that a policy
// with its labels may select. If these cannot be read either, it selects the whole mesh.
func denial(loader *resource.Loader, raw *Object, kind string) *resource.Policy {
	if kind != permission || loader.Kinds.Lookup(permission) == nil {
		return nil
	}
	var head, spec document
	if json.Unmarshal(raw.Data, &head) != nil {
		head = nil // such as a text that is not JSON, or with a field twice
	}
	if head != nil && json.Unmarshal(head["spec"], &spec) != nil {
		spec = nil
	}
	for _, candidate := range []document{head.with(spec["targetRef"]), head.with(nil), minimal(raw)} {
		if p := denying(loader, raw, candidate); p != nil {
			return p
		}
	}
	return nil
}

// with returns the identity and the labels of a document, with a targetRef and a rule.
func (d document) with(targetRef jsontext.Value) document {
	if d == nil {
		return nil
	}
	head := document{}
	for _, field := range []string{"type", "mesh", "name", "labels", "apiVersion", "kind"} {
		if value, there := d[field]; there {
			head[field] = value
		}
	}
	var metadata, kept document
	if json.Unmarshal(d["metadata"], &metadata) == nil {
		kept = document{}
		for _, field := range []string{"name", "namespace", "labels"} {
			if value, there := metadata[field]; there {
				kept[field] = value
			}
		}
		head["metadata"] = encoded(kept)
	}
	spec := document{"rules": jsontext.Value(`[{"default": {"deny": [{"method": "GET"}]}}]`)}
	if targetRef != nil {
		spec["targetRef"] = targetRef
	}
	head["spec"] = encoded(spec)
	return head
}

// minimal returns a document with only an identity.
func minimal(raw *Object) document {
	id := &raw.ID
	if id.Name == "" || raw.AnyMesh {
		return nil
	}
	head := document{"type": encoded(permission), "mesh": encoded(id.Mesh), "name": encoded(id.Name)}
	if id.Namespace != "" {
		head["labels"] = encoded(map[string]string{resource.NamespaceLabel: id.Namespace})
	}
	return head.with(nil)
}

// encoded returns a value as JSON. All values here have such a form.
func encoded(value any) jsontext.Value {
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return text
}

// denying returns the policy of a document, with entries that deny everything; nil if it
// does not load.
func denying(loader *resource.Loader, raw *Object, d document) *resource.Policy {
	if d == nil {
		return nil
	}
	strict := *loader
	strict.KeepGoing, strict.Claimed, strict.KeepSources = false, false, false
	set, err := strict.Decode(context.Background(), resource.Input{Name: raw.At, Data: encoded(d)})
	if err != nil || len(set.Policies) != 1 || !raw.fits(set.Policies[0].ID) {
		return nil
	}
	p := set.Policies[0]
	if raw.Flaw != "" { // the document may claim the identity of another object
		p.Name = "unusable key " + raw.Key
	}
	p.Unreadable = true
	p.Pos = diag.Position{File: raw.At}
	p.TargetPos = p.Pos
	p.Rules = []resource.Rule{{Conf: &meshtrafficpermission.RuleConf{Deny: []conf.Match{{}}}, Pos: p.Pos}}
	return p
}

// kindOf returns the kind of a document that does not load, from its key or its text.
func kindOf(raw *Object, decoded string) string {
	switch {
	case raw.ID.Kind != "":
		return raw.ID.Kind
	case decoded != "":
		return decoded
	case strings.Contains(string(raw.Data), permission): // the text may not even be JSON
		return permission
	}
	return ""
}
