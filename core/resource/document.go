package resource

import (
	"cmp"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// DefaultMesh is the mesh of resources that name none.
const DefaultMesh = "default"

// The kinds of resources that are not policies and not objects.
const (
	MeshKind      = "Mesh"
	DataplaneKind = "Dataplane"
)

// fixedKinds maps the kinds of resources that are not policies to their short
// names.
var fixedKinds = func() map[string]string {
	shorts := map[string]string{MeshKind: "m", DataplaneKind: dataplaneShort}
	for name, kind := range objectKinds {
		shorts[name] = kind.short
	}
	return shorts
}()

const dataplaneShort = "dp"

// FixedKinds returns the kinds of resources that are not policies, sorted.
func FixedKinds() []string { return slices.Sorted(maps.Keys(fixedKinds)) }

// ShortName returns the short name of a kind, or "" if it has none.
func ShortName(kinds *Kinds, kind string) string {
	if k := kinds.Lookup(kind); k != nil {
		return k.Short
	}
	return fixedKinds[kind]
}

// decoder turns documents into resources. It continues after errors, so that a
// mistake in one part of a document does not hide mistakes in others. After an
// error, the kept resources may be incomplete; the loader then drops them.
type decoder struct {
	load *decoding
	*worker
	*part // the part to decode
}

// body is a document without its identity.
type body struct {
	at        *diag.At
	kindField string // the field with the kind
	document  *strict.Value
	top       *strict.Value // the document, in the universal spelling
	spec      *strict.Value // nil: absent
}

// documents decodes documents one by one.
func (d *decoder) documents(documents iter.Seq[*strict.Document]) {
	for doc := range documents {
		if d.load.ctx.Err() != nil {
			return
		}
		d.outermost(doc)
	}
}

// outermost decodes a document that is not needed afterwards.
func (d *decoder) outermost(doc *strict.Document) {
	root, before := doc.Root(), len(d.out.Documents)
	if d.isList(root) {
		d.list(root) // other workers may decode the items
		d.otherScalars(doc)
		d.load.releaseLater(doc)
		return
	}
	resources := d.out.counts()
	d.notList(root)
	if d.out.counts() != resources {
		d.otherScalars(doc)
	}
	if len(d.out.Documents) == before { // a document of a registered type may contain values
		doc.Release()
	}
}

// otherScalars warns of values that Kuma, which reads YAML 1.1, reads otherwise.
func (d *decoder) otherScalars(doc *strict.Document) {
	for _, other := range doc.OtherScalars() {
		d.sink.Depend(diag.Depending{In: diag.AsKuma, Warning: true, Diagnostic: diag.Diagnostic{
			Code: diag.ScalarOfYAML11, Pos: other.Pos, What: "Kuma reads " + other.Text + " as " + other.Old + ", and these answers as " + other.Since,
			Hint: "write the value that is meant, a text in quotes",
		}})
	}
}

// document decodes one document, or each document of a list, in either
// spelling, and keeps the resources.
func (d *decoder) document(in *strict.Value) {
	if d.isList(in) {
		d.list(in)
	} else {
		d.notList(in)
	}
}

func (d *decoder) notList(in *strict.Value) {
	stored := d.isStored(in)
	if d.load.loader.KeepGoing || stored && d.load.loader.leavesOutStored() {
		d.leavingOut(in, stored, d.single)
	} else {
		d.single(in, stored)
	}
}

// single decodes a document that is not a list. A panic, for example in the Validate
// method of an embedder's kind, becomes an error of the document. It must not
// terminate a server, which would read the same file again when it restarts.
func (d *decoder) single(in *strict.Value, stored bool) {
	since := d.sink.Counts()
	defer func() {
		if d.sink.Counts() != since {
			d.hideKeys(in, since)
			d.sink.Name(since, nameIn(in))
			d.sink.OfDocument(since[2], in.At().Pos(), stored && !d.load.loader.Strict)
		}
	}()
	readAs(in, kindIn(in), stored)
	defer func() {
		if fault := recover(); fault != nil {
			in.At().Errorf(diag.InternalFault, "report this with the document", "the document cannot be read: internal error: %v", fault)
		}
	}()
	if before := d.out.counts(); d.load.loader.KeepSources {
		defer func() {
			if d.out.counts() != before {
				d.out.keepSource(in.At().Pos(), written(in))
			}
		}()
	}
	if d.annotated {
		d.ignores(in)
	}
	switch {
	case d.load.ctx.Err() != nil: // the load returns no resources
	case d.walked && isNoResource(in):
		d.out.NoResources = append(d.out.NoResources, in.At().Pos())
	case in.Kind() == strict.List:
		in.At().Errorf(diag.WrongType, "write each resource as a document of its own, after a line of ---", "must be a mapping, not a list")
	case isForeign(in):
		d.foreign(in)
	case in.Has("apiVersion") || in.Has("metadata") || in.Has("kind") && !in.Has("type"):
		d.kubernetes(in)
	default:
		d.universal(in)
	}
}

// kindIn returns the kind of a document; "" if it has none.
func kindIn(in *strict.Value) string {
	if kind := in.FieldText("type"); kind != "" {
		return kind
	}
	return in.FieldText("kind")
}

// nameIn returns the kind and the name that a document has, if its place alone does not lead
// a reader to it: in a list, where an index is all that there is, and on standard input,
// whose lines are gone.
func nameIn(in *strict.Value) string {
	at := in.At()
	if at.IsRoot() && at.Pos().File != stdinName || in.Kind() != strict.Mapping {
		return ""
	}
	kind, named := kindIn(in), in
	if in.FieldText("type") == "" && in.Has("metadata") {
		named = in.Field("metadata")
	}
	name := named.FieldText("name")
	if namespace := named.FieldText("namespace"); namespace != "" {
		name = namespace + "/" + name
	}
	return strings.TrimSpace(kind + " " + name)
}

// isNoResource reports whether a document of a repository is something else than a resource: a
// list of anything but resources, or a mapping without all of the fields by which a person
// could have meant a resource. A permission that lost its type has one of them.
func isNoResource(in *strict.Value) bool {
	switch in.Kind() {
	case strict.List:
		for i := 0; ; i++ {
			element := in.Element(i)
			if element == nil {
				return true
			}
			if isMeant(element) {
				return false
			}
		}
	case strict.Mapping:
		switch path.Base(in.At().Pos().File) {
		case "kustomization.yaml", "kustomization.yml":
			return false
		}
		return !slices.ContainsFunc(resourceFields, in.Has)
	}
	return true
}

// resourceFields are the fields by which a document can be meant as a resource.
var resourceFields = []string{"type", "kind", "apiVersion", "mesh", "metadata", "spec"}

// isMeant reports whether an element of a list can be meant as a resource. One field is not
// enough: elements of many lists have a type or a kind.
func isMeant(element *strict.Value) bool {
	fields := 0
	for _, field := range resourceFields {
		if element.Has(field) {
			fields++
		}
	}
	return fields > 1 || element.Has("type") && element.Has("name")
}

// isForeign reports whether a document has none of the fields by which it could be a
// resource, such as a file of values for Helm. It has one error instead of one for each
// field.
func isForeign(in *strict.Value) bool {
	return in.Kind() == strict.Mapping && !slices.ContainsFunc([]string{"type", "kind", "metadata", "spec", "networking"}, in.Has)
}

// foreign reports a document that is no resource. The file of a kustomization may have
// no kind.
func (d *decoder) foreign(in *strict.Value) {
	switch path.Base(in.At().Pos().File) {
	case "kustomization.yaml", "kustomization.yml":
		d.kustomization(in)
	default:
		in.At().Errorf(diag.MissingField, "leave it out: exclude it, or give files or directories of resources only", "the document is no resource: it has neither a type nor a kind")
	}
}

// kustomizeGroup is the API group of kustomize. Flux has kustomizations of another group,
// which no directory is an input of.
const kustomizeGroup = "kustomize.config.k8s.io"

// kustomization skips the file of kustomize in a directory, with a warning; or, if it has
// patches, with an error, because the files of patches are no resources.
func (d *decoder) kustomization(in *strict.Value) {
	hint := "give its output: kubectl kustomize " + diag.OneLine(path.Dir(in.At().Pos().File)) + " | meshmatch ... -f -; or exclude it"
	for _, patches := range []string{"patches", "patchesStrategicMerge", "patchesJson6902"} {
		if in.Has(patches) {
			in.At().Field(patches).Errorf(diag.UnrenderedInput, hint, "the directory is an input of kustomize: patches are no resources")
			return
		}
	}
	in.At().Warnf(diag.NotApplied, hint, "the kustomization is not applied: the files of the directory are read as they are")
	count(&d.out.Skipped, "Kustomization", 1)
}

// isKnown reports whether documents of the kind are resources that the decoder
// reads.
func (d *decoder) isKnown(kind string) bool {
	return fixedKinds[kind] != "" || d.load.loader.Kinds.Lookup(kind) != nil
}

// skipUnused reports whether a document has one of Kuma's kinds that are not
// used here, or is a Config without virtual addresses. If so, it counts the document. The
// field has the kind.
func (d *decoder) skipUnused(in *strict.Value, field, kind string) bool {
	replacement, replaced := replacedKinds[kind]
	if d.isKnown(kind) && kind != ConfigKind || !replaced && !unusedKinds[kind] {
		return false
	}
	if replaced {
		in.At().Field(field).Warnf(diag.KindNotRead, "use "+replacement, "documents of kind %s are not read: no answer includes their configuration", kind)
		count(&d.out.Unread, kind, 1)
		return true
	}
	count(&d.out.Skipped, kind, 1)
	return true
}

// registered decodes a document of a registered type, or skips it, and reports
// whether the type is registered.
func (d *decoder) registered(in *strict.Value, group, kind string, meta func(*strict.Value) Meta) bool {
	i := slices.IndexFunc(d.load.loader.Documents, func(t DocumentType) bool { return t.Group == group && t.Kind == kind })
	switch {
	case i < 0:
		return false
	case d.load.loader.Documents[i].decode == nil:
		count(&d.out.Skipped, kind, 1)
	default:
		in.Document().NullIsAbsent = true // OCM writes nulls, which an API server drops
		d.out.Documents = append(d.out.Documents, &Document{Meta: meta(in), Group: group, Value: d.load.loader.Documents[i].decode(in)})
	}
	return true
}

// kindsOf returns the registered kinds of a group whose documents are read.
func (d *decoder) kindsOf(group string) []string {
	var kinds []string
	for _, t := range d.load.loader.Documents {
		if t.Group == group && t.decode != nil {
			kinds = append(kinds, t.Kind)
		}
	}
	return kinds
}

func (d *decoder) resource(meta Meta, b body) {
	meta.Mesh = cmp.Or(meta.Mesh, meta.Labels.Value(MeshLabel), DefaultMesh)
	switch meta.Kind {
	case "": // already reported
	case MeshKind:
		meta.Mesh, meta.Namespace = meta.Name, ""
		d.out.Meshes = append(d.out.Meshes, &Mesh{Meta: meta, Spec: d.mesh(&b)})
	case DataplaneKind:
		d.out.Dataplanes = append(d.out.Dataplanes, d.dataplane(meta, &b))
	default:
		kind := d.load.loader.Kinds.Lookup(meta.Kind)
		if kind == nil {
			b.at.Field(b.kindField).Errorf(diag.UnknownKind, d.kindHint(meta.Kind), "unknown kind %q", meta.Kind)
			return
		}
		d.out.Policies = append(d.out.Policies, b.policy(kind, meta, &d.policyDoc))
	}
}

func (d *decoder) kindHint(word string) string {
	if use := proposedKinds[word]; use != "" {
		return "use " + use
	}
	known := d.readKinds()
	if hint := diag.DidYouMean(word, append(known, d.kindsOf("")...)); hint != "" {
		return hint
	}
	return "one of " + strings.Join(known, ", ")
}

// readKinds returns the kinds of Kuma that are read.
func (d *decoder) readKinds() []string {
	return slices.Concat(d.load.loader.Kinds.Names(), []string{MeshKind, DataplaneKind}, objectNames())
}

// requireSpec reports whether there is a spec. If there is none, it adds an
// error.
func (b *body) requireSpec() bool {
	if b.top != nil && b.top.Has("networking") {
		b.at.Field("networking").Errorf(diag.FieldNotAllowed, "remove it", "belongs to a Dataplane")
	}
	if b.spec == nil {
		b.at.Field("spec").Errorf(diag.MissingField, b.outsideSpec(), "required field is missing")
	}
	return b.spec != nil
}

// outsideSpec returns a hint if fields of the spec are at the top of a document, else "".
func (b *body) outsideSpec() string {
	var fields []string
	for _, field := range []string{"targetRef", "to", "from", "rules", "default"} {
		if b.top != nil && b.top.Has(field) {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		return ""
	}
	return "write " + strings.Join(fields, " and ") + " below it"
}

func (b *body) policy(kind *Kind, meta Meta, room *policyDoc) *Policy {
	if !b.requireSpec() {
		return &Policy{Meta: meta, Type: kind}
	}
	return decodePolicy(kind, meta, b.spec, room)
}
