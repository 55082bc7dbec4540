package ir

// Value is the structure of a Go type, from which equal, hash and clone are generated.
// There is one *Value for each type, and a recursive type refers to itself.
type Value struct {
	Kind Kind
	// Pkg, PkgName and Name are the import path, the package's name and the name
	// of a named type; an unnamed scalar has only a Name, its keyword, and other
	// unnamed types have none of them.
	Pkg, PkgName, Name string
	Key                *Value // of a Map
	Elem               *Value // of a Pointer, List, Map
	Fields             []ValueField
	Methods            Methods // of an Opaque
	Nilable            bool    // of an Opaque: it is a list or a map, and nil is not set
	// Flat means that == compares the whole value and assignment copies it.
	Flat bool
	// Ident is the part of function names that identifies the type, such as
	// DurationPtr or HeaderList. It is not unique.
	Ident string
}

// ValueField is a field of a Struct value.
type ValueField struct {
	Name     string
	Value    *Value
	Embedded bool
}

// Kind is the kind of a Value's underlying type, or Opaque.
type Kind int

// The kinds. Opaque is a type with a hand-written Equal.
const (
	Bool Kind = iota
	Int
	Uint
	Float
	String
	Pointer
	List
	MapKind
	StructKind
	Opaque
)

// Methods describes the hand-written methods of an Opaque, which always has
// Equal.
type Methods struct {
	EqualPointer bool // Equal takes a pointer
	Hash         bool // there is a Hash
	Clone        bool // there is a Clone
	ClonePointer bool // Clone returns a pointer
}
