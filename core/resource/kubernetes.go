package resource

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// What Kuma's resources have on Kubernetes.
const (
	KumaGroup   = "kuma.io"
	KumaVersion = "v1alpha1"
	// SystemNamespace is the namespace of a control plane. Resources that were made
	// elsewhere are in it.
	SystemNamespace = "kuma-system"
)

// kubernetesDoc is a resource in the Kubernetes spelling.
type kubernetesDoc struct {
	APIVersion apiVersion    `json:"apiVersion"`
	Kind       resourceKind  `json:"kind"`
	Mesh       string        `json:"mesh,omitzero"`
	Metadata   *strict.Value `json:"metadata"`
	Spec       *strict.Value `json:"spec,omitzero"`
}

// kubernetesHead are the fields that every document in the Kubernetes spelling
// may have, apart from status.
var kubernetesHead = []string{"apiVersion", "kind", "metadata"}

type apiVersion string

func (apiVersion) Enum() []string { return []string{KumaGroup + "/v1alpha1"} }

// kubernetesMetadata is the part of an object's metadata that identifies it.
type kubernetesMetadata struct {
	Name      resourceName `json:"name"`
	Namespace string       `json:"namespace,omitzero"`
	Labels    Tags         `json:"labels,omitzero"`
	// Annotations are not part of the identity, except annotations in which Kuma keeps
	// labels.
	Annotations *strict.Value `json:"annotations,omitzero"`
}

// usedMeta contains the fields of [kubernetesMetadata].
var usedMeta = []string{"name", "namespace", "labels", "annotations"}

// isObjectMeta reports whether a field of metadata is used, or is another field of
// Kubernetes' ObjectMeta. These are dropped, like any field that a future version adds.
func isObjectMeta(field string) bool {
	switch field {
	case "name", "namespace", "labels", "annotations",
		"clusterName", "creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers",
		"generateName", "generation", "initializers", "managedFields", "ownerReferences", "resourceVersion", "selfLink", "uid":
		return true
	}
	return false
}

type resourceKind string

func (k resourceKind) Validate(at *diag.At) {
	if k == "" {
		at.Errorf(diag.EmptyValue, "write one such as MeshTimeout", "a resource's kind must not be empty")
	}
}

type resourceName string

func (n resourceName) Validate(at *diag.At) {
	if n == "" {
		at.Errorf(diag.EmptyValue, "", "a resource's name must not be empty")
	}
	if !isWord(string(n)) {
		refuseWord(at, string(n))
	}
}

func (d *decoder) kubernetes(in *strict.Value) {
	at := in.At()
	version, kind := in.FieldText("apiVersion"), in.FieldText("kind")
	group := groupOf(version)
	switch {
	case d.lacksVersion(in, kind), d.mixesForms(in):
		return
	case !in.Has("apiVersion") || !in.Has("kind"): // reported below
	case group == KumaGroup:
		if d.skipUnused(in, "kind", kind) || d.unreadPolicy(in, kind) {
			return
		}
	case group == kustomizeGroup:
		d.kustomization(in)
		return
	case group != "" && d.registered(in, group, kind, documentMeta):
		return
	case group != "" && d.kindsOf(group) != nil:
		if d.isForeignKind(kind, d.kindsOf(group)) {
			count(&d.out.Skipped, kind, 1) // such as PolicyGenerator
			return
		}
		at.Field("kind").Errorf(diag.UnknownKind, diag.DidYouMean(kind, d.kindsOf(group)), "unknown kind %q of %s", kind, group)
		return
	case kind == "ConfigMap" && version == "v1" && d.configMap(in), kind == SecretKind && version == "v1" && d.kubernetesSecret(in):
		return
	case objectKinds[kind] != nil && sharedKinds[kind] && isAPIVersion(version): // of another system
		count(&d.out.Skipped, kind, 1)
		return
	case d.isKnown(kind) && kind != MeshKind: // reported below: the apiVersion is wrong
	case !isAPIVersion(version):
		at.Field("apiVersion").Errorf(diag.BadValue, "write GROUP/VERSION, such as "+KumaGroup+"/v1alpha1", "bad apiVersion %q", version)
		return
	case kind != "":
		count(&d.out.Skipped, kind, 1)
		return
	}
	doc := &d.kubernetesDoc
	*doc = kubernetesDoc{}
	decodeHead(in, doc, liveOnKubernetes(in, kind)...)
	meta := kubernetesMeta(at, string(doc.Kind), doc.Metadata)
	meta.Mesh = doc.Mesh
	validateWord(at, "mesh", doc.Mesh)
	if kind := objectKinds[meta.Kind]; kind != nil {
		d.kubernetesObject(kind, meta, in, doc.Spec)
		return
	}
	d.resource(meta, body{at: at, kindField: "kind", document: in, spec: doc.Spec})
}

// isForeignKind reports whether documents of an unknown kind are counted and not refused: the
// kind is no misspelling of one that is read (SPEC 1.1).
func (d *decoder) isForeignKind(kind string, read []string) bool {
	return kind != "" && !d.load.loader.Strict && !diag.Misspells(kind, read)
}

// unreadPolicy counts a document of a kind of Kuma that this version does not read. It has a
// warning, because a policy of a later version of Kuma configures proxies.
func (d *decoder) unreadPolicy(in *strict.Value, kind string) bool {
	if d.isKnown(kind) || objectKinds[kind] != nil || !d.isForeignKind(kind, d.readKinds()) {
		return false
	}
	in.At().Field("kind").Warnf(diag.KindNotRead, "", "documents of kind %s are not read: no answer includes their configuration", kind)
	count(&d.out.Unread, kind, 1)
	return true
}

// liveOnKubernetes returns the fields around the content that a control plane adds.
func liveOnKubernetes(in *strict.Value, kind string) []string {
	if hasSNIs(in, kind) {
		return []string{"status", snis}
	}
	return []string{"status"}
}

// lacksVersion reports whether a document of a registered type has no apiVersion, as examples of
// proposals have none. It has one error.
func (d *decoder) lacksVersion(in *strict.Value, kind string) bool {
	if in.Has("apiVersion") || in.Has("type") {
		return false
	}
	for _, t := range d.load.loader.Documents {
		if t.Group != "" && t.Kind == kind && t.decode != nil {
			hint := fmt.Sprintf("a %s has apiVersion: %s/%s and metadata: {name: NAME}", kind, t.Group, cmp.Or(t.Version, "v1"))
			in.At().Field("apiVersion").Errorf(diag.MissingField, hint, "required field is missing")
			return true
		}
	}
	return false
}

// mixesForms reports whether a document has fields of both spellings, or the kind of one and
// the other fields of the other. It has one error for all of them.
func (d *decoder) mixesForms(in *strict.Value) bool {
	const forms = "write type, mesh and name, or apiVersion, kind and metadata"
	switch {
	case in.Has("type") && !in.Has("kind"):
		in.At().Name("type").Errorf(diag.FieldNotAllowed, forms, "belongs to the universal spelling, but other fields to that of Kubernetes")
	case in.Has("kind") && !in.Has("apiVersion") && !in.Has("metadata"):
		in.At().Name("kind").Errorf(diag.FieldNotAllowed, forms, "belongs to the spelling of Kubernetes, which has apiVersion and metadata too")
	default:
		return false
	}
	return true
}

// kubernetesMeta decodes metadata, which is nil if it is missing. Like Kuma, it
// adds the label of the namespace (SPEC 1.2).
func kubernetesMeta(at *diag.At, kind string, metadata *strict.Value) Meta {
	var doc kubernetesMetadata
	if metadata != nil {
		for field := range metadata.EachName {
			if isObjectMeta(field) {
				continue
			}
			if hint := diag.DidYouMean(field, usedMeta); strings.HasPrefix(hint, "did you mean") {
				metadata.At().Name(field).Warnf(diag.IgnoredMetadata, hint, "the field is ignored: Kubernetes has no field with this name")
			}
		}
		strict.DecodePart(metadata, &doc)
	}
	doc.keepLabels(kind)
	meta := newMeta(at, at.Field("metadata"), kind, string(doc.Name), doc.Labels)
	meta.Namespace = doc.Namespace
	return meta
}

// keepLabels adds the labels that Kuma derives from annotations and, unless the
// resource was made elsewhere, from the namespace (SPEC 17.2).
func (m *kubernetesMetadata) keepLabels(kind string) {
	if kind == MeshKind {
		return
	}
	if m.Annotations != nil {
		for _, key := range labelAnnotations {
			if value := m.Annotations.Field(key); value != nil && value.Kind() == strict.String {
				m.Labels = m.Labels.With(key, value.Text())
			}
		}
	}
	if _, labelled := m.Labels.Get(NamespaceLabel); !labelled && m.Namespace != "" && originOf(m.Labels.Value(OriginLabel)) != GlobalOrigin {
		m.Labels = m.Labels.With(NamespaceLabel, m.Namespace)
	}
}

// documentMeta decodes the identity of a document of a registered type. The
// type decodes the other fields.
func documentMeta(in *strict.Value) Meta {
	var doc struct {
		Kind     resourceKind  `json:"kind"`
		Metadata *strict.Value `json:"metadata"`
	}
	strict.DecodePart(in, &doc)
	return kubernetesMeta(in.At(), string(doc.Kind), doc.Metadata)
}

// groupOf returns the API group of an apiVersion; Kubernetes' core group is
// empty.
func groupOf(apiVersion string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		return ""
	}
	return group
}

var (
	groupVersion = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]*[a-z0-9])?/[a-z]([a-z0-9-]*[a-z0-9])?$`)
	coreVersion  = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)
)

func isAPIVersion(text string) bool {
	return groupVersion.MatchString(text) || coreVersion.MatchString(text)
}
