package find

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core"
	"github.com/meshmatch/meshmatch/core/app/internal/inspect/internal/requests"
	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/access"
	"github.com/meshmatch/meshmatch/core/internal/lists"
	"github.com/meshmatch/meshmatch/core/internal/request"
	"github.com/meshmatch/meshmatch/core/resource"
)

// A Name identifies a resource of one kind in a mesh by its name or by
// NAMESPACE/NAME.
type Name struct {
	Name string
	// Namespace is the namespace, which may be empty; nil: any namespace. It must
	// not contradict a namespace in Name.
	Namespace *string
}

// Split returns the name and the namespace.
func (n Name) Split(what string) (name string, namespace *string, err error) {
	before, after, qualified := strings.Cut(n.Name, "/")
	switch {
	case !qualified:
		return n.Name, n.Namespace, nil
	case n.Namespace != nil && *n.Namespace != before:
		return "", nil, Usagef("%s %q is not in %s %q; leave one of them out", what, n.Name, FieldNamespace, *n.Namespace)
	}
	return after, &before, nil
}

// Dataplane returns the only dataplane of a mesh with the name. The error
// is [ErrNotFound] or [ErrUsage].
func Dataplane(view *core.View, mesh string, name Name) (*resource.Dataplane, error) {
	return only(view, view.Dataplanes(mesh), func(d *resource.Dataplane) *resource.Meta { return &d.Meta }, "dataplane", name)
}

// Client returns the client with the name: a SPIFFE ID, a dataplane with its identity and the
// tags of its first inbound, or svc/SERVICE if all dataplanes of the service are one client. By
// the mtls of a Mesh of Kuma it may have several SPIFFE IDs; then IDs has all of them. The error
// is [ErrNotFound] or [ErrUsage].
func Client(view *core.View, mesh string, name Name) (client *access.KnownClient, ids []string, err error) {
	if request.ClaimsID(name.Name) {
		return &access.KnownClient{SpiffeID: name.Name}, nil, nil
	}
	if service, is := strings.CutPrefix(name.Name, ServicePrefix); is {
		return serviceClient(view, mesh, service)
	}
	d, err := Dataplane(view, mesh, name)
	if err != nil {
		return nil, nil, err
	}
	return dataplaneClient(view, d)
}

// serviceClient returns the client that all dataplanes of a service are.
func serviceClient(view *core.View, mesh, name string) (client *access.KnownClient, ids []string, err error) {
	service, err := NewService(view, mesh, name, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range service.Dataplanes {
		next, nextIDs, err := dataplaneClient(view, d)
		switch {
		case err != nil:
			return nil, nil, err
		case client != nil && (client.SpiffeID != next.SpiffeID || !slices.Equal(ids, nextIDs) || !slices.Equal(client.Tags, next.Tags)):
			return nil, nil, NotFoundf("the dataplanes of service %q are different clients; give one of them, such as %s or %s", name, service.Dataplanes[0].Qualified(), d.Qualified())
		}
		client, ids = next, nextIDs
	}
	return client, ids, nil
}

func dataplaneClient(view *core.View, d *resource.Dataplane) (client *access.KnownClient, ids []string, err error) {
	if ids, err = requests.IDsOf(view, d); err != nil {
		return nil, nil, err
	}
	client = &access.KnownClient{}
	if len(ids) > 0 {
		client.SpiffeID = ids[0]
	}
	if tags := ClientTags(d); len(tags) > 0 {
		client.Tags = tags[0]
	}
	if len(ids) < 2 {
		ids = nil
	}
	return client, ids, nil
}

// Policy returns the only policy of a kind and a mesh with the name. It returns
// the same errors as [Dataplane].
func Policy(view *core.View, mesh, kind string, name Name) (*resource.Policy, error) {
	ofKind := slices.DeleteFunc(view.Policies(mesh), func(p *resource.Policy) bool { return p.Type.Name != kind })
	return only(view, ofKind, func(p *resource.Policy) *resource.Meta { return &p.Meta }, kind, name)
}

// only returns the only resource with a name. If there is none, it returns the only
// resource to which others refer by the name.
func only[T any](view *core.View, all []T, meta func(T) *resource.Meta, what string, wanted Name) (found T, err error) {
	name, namespace, err := wanted.Split(what)
	if err != nil {
		return found, err
	}
	called := func(m *resource.Meta) string { return m.Name }
	if !slices.ContainsFunc(all, func(r T) bool { return meta(r).Name == name }) {
		called = view.Semantics().ReferenceName
	}
	var names, namespaces, stored []string
	matching := 0
	for _, r := range all {
		m := meta(r)
		names = append(names, called(m))
		if called(m) != name {
			continue
		}
		namespaces = append(namespaces, strconv.Quote(m.Namespace))
		if namespace == nil || *namespace == m.Namespace || m.Name != name && *namespace == m.HomeNamespace() {
			found = r
			matching++
			stored = append(stored, storedName(m))
		}
	}
	slices.Sort(namespaces)
	namespaces = slices.Compact(namespaces)
	switch {
	case matching == 1:
		return found, nil
	case matching > 1 && (len(namespaces) == 1 || namespace != nil):
		err = NotFoundf("several resources are %s %q; give the name of one: %s", what, name, strings.Join(stored[:min(len(stored), mostStored)], ", "))
	case matching > 1:
		err = NotFoundf("%s %q is in several namespaces; choose one with %s, or as NAMESPACE/NAME: %s", what, name, FieldNamespace, strings.Join(namespaces, ", "))
	case len(namespaces) > 0:
		err = NotFoundf("there is no %s %q in namespace %q; it is in %s", what, name, *namespace, strings.Join(namespaces, ", "))
	default:
		err = NotFound(fmt.Sprintf("there is no %s %q", what, name), name, names)
	}
	var none T
	return none, err
}

// mostStored is the maximum number of names in an error.
const mostStored = 5

// storedName returns the name under which a control plane has stored a resource, with its zone.
func storedName(m *resource.Meta) string {
	if m.Zone() == "" {
		return m.Qualified()
	}
	return m.Qualified() + " (zone " + m.Zone() + ")"
}

// Kind returns the kind with a name or a short name, in any letter case. The name may
// be in the plural. The error is [ErrUsage].
func Kind(kinds *resource.Kinds, name string) (*resource.Kind, error) {
	for _, kind := range kinds.All() {
		if IsKindName(name, kind.Name) || strings.EqualFold(kind.Short, name) {
			return kind, nil
		}
	}
	return nil, unknownKind(name, kinds.Names(), KindNames(kinds))
}

// unknownKind returns the error about a word that is none of the known kinds.
func unknownKind(word string, known []string, all string) error {
	return Usagef("unknown kind %q; %s", word, cmp.Or(diag.DidYouMean(word, known), "the kinds are "+all))
}

// IsKindName reports whether a word is the name of a kind, in any letter case and in the
// singular or the plural.
func IsKindName(word, kind string) bool {
	plural := kind + "s"
	if stem, ends := strings.CutSuffix(kind, "y"); ends {
		plural = stem + "ies"
	}
	return strings.EqualFold(word, kind) || strings.EqualFold(word, plural)
}

// KindNames lists the kinds with their short names, for messages.
func KindNames(kinds *resource.Kinds) string {
	return strings.Join(lists.Map(kinds.All(), func(kind *resource.Kind) string { return kind.Name + " (" + kind.Short + ")" }), ", ")
}

// ClientTags returns the tags that a dataplane has as a client: the tags of each
// inbound, or of its gateway.
func ClientTags(d *resource.Dataplane) []resource.Tags {
	if d.Gateway != nil {
		return []resource.Tags{d.Gateway.Tags}
	}
	return lists.MapPointers(d.Inbounds, func(in *resource.Inbound) resource.Tags { return in.Tags })
}

// ResourceKind returns the name of a kind of resources or documents. It finds the kind
// by its name, in the singular or the plural, or by a short name, in any letter case.
// The error is [ErrUsage].
func ResourceKind(kinds *resource.Kinds, documents []resource.DocumentType, word string) (string, error) {
	known := ResourceKinds(kinds, documents)
	for _, name := range known {
		short := resource.ShortName(kinds, name)
		if IsKindName(word, name) || short != "" && strings.EqualFold(word, short) {
			return name, nil
		}
	}
	return "", unknownKind(word, known, strings.Join(known, ", "))
}

// ResourceKinds returns the names of all kinds of resources, and of documents.
func ResourceKinds(kinds *resource.Kinds, documents []resource.DocumentType) []string {
	return slices.Concat(resource.FixedKinds(), kinds.Names(), lists.MapPointers(documents, func(t *resource.DocumentType) string { return t.Kind }))
}
