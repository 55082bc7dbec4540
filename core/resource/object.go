package resource

import (
	"time"

	"github.com/meshmatch/meshmatch/core/diag"
	"github.com/meshmatch/meshmatch/core/internal/strict"
)

// Object is a resource of one of the kinds of SPEC 17.2, such as a [MeshService] or
// a [ZoneIngress]: any resource except a Mesh, a Dataplane or a
// policy. It is a pointer to a type of this package that embeds an [ObjectOf]. It is immutable once decoded.
type Object interface {
	Identity() *Meta
	// KRI returns the identifier of the object, or of its part of the given section.
	KRI(section string) string
	Validate(*diag.At)

	created() *time.Time
	spec() any // a pointer to a struct
}

// statused is implemented by the objects whose status is kept.
type statused interface{ decodeStatus(*strict.Value) }

// ObjectOf contains the fields that all objects have. S is the struct of the
// spec.
type ObjectOf[S any] struct {
	Meta
	// CreationTime is the time at which the control plane stored the object, or zero
	// if the input does not have it. Some references select the oldest of several
	// objects.
	CreationTime time.Time
	Spec         S
}

// KRI returns the identifier of the object, or of its part of the given section.
func (o *ObjectOf[S]) KRI(section string) string {
	return kri(objectKinds[o.Kind].short, &o.Meta, section)
}

// Validate reports the errors of the object at its place.
func (o *ObjectOf[S]) Validate(at *diag.At) {
	kind := objectKinds[o.Kind]
	if kind == nil {
		at.Field("type").Errorf(diag.UnknownKind, diag.DidYouMean(o.Kind, objectNames()), "unknown kind %q", o.Kind)
		return
	}
	if made, ok := kind.make().spec().(*S); !ok || made == nil {
		at.Field("type").Errorf(diag.BadResource, "", "an object of kind %s has another type", o.Kind)
		return
	}
	o.validateObject(at, kind)
	strict.Validate(kind.place(at), &o.Spec)
}

func (o *ObjectOf[S]) created() *time.Time { return &o.CreationTime }

func (o *ObjectOf[S]) spec() any { return &o.Spec }

// validateObject checks the identity and the labels.
func (m *Meta) validateObject(at *diag.At, kind *objectKind) {
	if !kind.global {
		m.validate(at, kind.name)
		return
	}
	if m.Mesh != "" {
		at.Field("mesh").Errorf(diag.WrongMesh, "remove it", "a %s belongs to no mesh", kind.name)
	}
	checked := *m
	checked.Mesh = "-"
	checked.validate(at, kind.name)
}

// ObjectsOf returns the objects of type T, such as *MeshService, from a list that
// is sorted by identity, in the same order.
func ObjectsOf[T Object](objects []Object) []T {
	var out []T
	for _, o := range objects {
		if typed, ok := o.(T); ok {
			out = append(out, typed)
		}
	}
	return out
}
