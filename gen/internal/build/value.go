package build

import (
	"cmp"
	"fmt"
	"go/types"
	"unicode"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/gen/internal/ir"
)

// valueOf returns the value of a type, or nil after an error.
func (b *builder) valueOf(t types.Type, at place) *ir.Value {
	t = types.Unalias(t)
	if v, ok := b.values.At(t).(*ir.Value); ok {
		return v
	}
	v := &ir.Value{}
	b.values.Set(t, v) // before its parts, because a type may contain itself
	if !b.fill(v, t, at) {
		b.values.Delete(t) // the next place with this type reports the error too
		return nil
	}
	return v
}

func (b *builder) fill(v *ir.Value, t types.Type, at place) bool {
	if named, ok := t.(*types.Named); ok {
		if !b.name(v, named, at) {
			return false
		}
		if !b.roots[named.Obj()] {
			methods, all := handWrittenMethods(named)
			if all {
				v.Kind, v.Methods, v.Nilable = ir.Opaque, methods, isListOrMap(named)
				return true
			}
			if b.reportSomeMethods(named, at) {
				return false
			}
		}
	}
	switch under := t.Underlying().(type) {
	case *types.Basic:
		return b.fillScalar(v, t, under, at)
	case *types.Pointer:
		v.Kind, v.Elem = ir.Pointer, b.valueOf(under.Elem(), at)
		if v.Elem != nil {
			ident(v, v.Elem.Ident+"Ptr")
		}
		return v.Elem != nil
	case *types.Slice:
		v.Kind, v.Elem = ir.List, b.valueOf(under.Elem(), at.elem())
		if v.Elem != nil {
			ident(v, v.Elem.Ident+"List")
		}
		return v.Elem != nil
	case *types.Map:
		return b.fillMap(v, under, at.elem())
	case *types.Struct:
		return b.fillStruct(v, t, under, at)
	}
	b.unsupported(t, at)
	return false
}

// name sets the name of v. It reports a name that generated code cannot use.
func (b *builder) name(v *ir.Value, named *types.Named, at place) bool {
	object := named.Obj()
	switch {
	case named.TypeArgs().Len() > 0:
		b.report(at, "generic types cannot be merged", "write the type out")
		return false
	case object.Pkg() == nil:
		return true // error, comparable: reported as interfaces
	case object.Pkg().Path() == "time" && object.Name() == "Duration":
		b.report(at, "a time.Duration is a number of nanoseconds in a file", "use a type that reads texts such as 1m30s, like conf.Duration")
		return false
	case object.Pkg() != b.pkg.Types && !object.Exported():
		b.report(at, fmt.Sprintf("%s is not exported by %s", object.Name(), object.Pkg().Path()), "use your own type")
		return false
	case ir.Reserved(object.Name()):
		b.report(at, fmt.Sprintf("the generated code has variables named %s", object.Name()), "rename the type")
		return false
	}
	v.Pkg, v.PkgName, v.Name = object.Pkg().Path(), object.Pkg().Name(), object.Name()
	v.Ident = upper(object.Name())
	if object.Pkg() != b.pkg.Types {
		v.Ident = upper(object.Pkg().Name()) + v.Ident
	}
	return true
}

func (b *builder) fillScalar(v *ir.Value, t types.Type, basic *types.Basic, at place) bool {
	switch info := basic.Info(); {
	case basic.Kind() == types.Invalid:
		b.report(at, b.pkg.TypeError(at.pos), "")
		return false
	case info&types.IsBoolean != 0:
		v.Kind = ir.Bool
	case info&types.IsUnsigned != 0 && basic.Kind() != types.Uintptr:
		v.Kind = ir.Uint
	case info&types.IsInteger != 0 && basic.Kind() != types.Uintptr:
		v.Kind = ir.Int
	case info&types.IsFloat != 0:
		v.Kind = ir.Float
	case info&types.IsString != 0:
		v.Kind = ir.String
	default:
		b.unsupported(t, at)
		return false
	}
	v.Name = cmp.Or(v.Name, basic.Name())
	ident(v, upper(basic.Name()))
	v.Flat = true
	return true
}

func (b *builder) fillMap(v *ir.Value, m *types.Map, at place) bool {
	basic, ok := m.Key().Underlying().(*types.Basic)
	if !ok || basic.Info()&(types.IsString|types.IsInteger) == 0 {
		b.report(at, "the keys of a map must be strings or integers", "they are names in JSON")
		return false
	}
	v.Kind = ir.MapKind
	v.Key, v.Elem = b.valueOf(m.Key(), at), b.valueOf(m.Elem(), at)
	if v.Key == nil || v.Elem == nil {
		return false
	}
	ident(v, v.Elem.Ident+"By"+v.Key.Ident)
	return true
}

func (b *builder) fillStruct(v *ir.Value, t types.Type, s *types.Struct, at place) bool {
	named, ok := t.(*types.Named)
	if !ok {
		b.report(at, "a struct without a name", "declare it as a type")
		return false
	}
	if named.Obj().Pkg() == b.pkg.Types {
		b.visited = append(b.visited, named)
	}
	v.Kind, v.Flat = ir.StructKind, true
	fine := b.checkJSON(named, at)
	for i := range s.NumFields() {
		field := s.Field(i)
		at := b.fieldPlace(named, field, at)
		if !field.Exported() {
			b.reportUnexported(named, at)
			fine = false
			continue
		}
		inner := b.valueOf(field.Type(), at)
		if inner == nil {
			fine = false
			continue
		}
		v.Flat = v.Flat && inner.Flat
		v.Fields = append(v.Fields, ir.ValueField{Name: field.Name(), Value: inner, Embedded: field.Embedded()})
	}
	return fine
}

// ident sets the identifier of an unnamed type from the identifiers of its
// parts.
func ident(v *ir.Value, parts string) {
	v.Ident = cmp.Or(v.Ident, parts)
}

// upper returns s with a capital first letter.
func upper(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}
