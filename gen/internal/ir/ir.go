package ir

// Package is a package with root types.
type Package struct {
	Path  string // import path
	Name  string
	Roots []*Root
	// Declared and Imported are the names that the package declares and that its files
	// import, including tests and files that build constraints exclude. The generated
	// file cannot declare them, and cannot import a package under a name in Declared.
	Declared, Imported map[string]bool
}

// Root is a type with the directive //confgen:conf.
type Root struct {
	Struct *Struct
	Value  *Value
	// Hash and Clone report whether the directive requests these methods.
	Hash, Clone bool
}

// Merger returns the name of the merger of the type. It is not exported: other packages get
// mergers by the section of a kind.
func (r *Root) Merger() string { return MergerName(r.Value.Name) }

// MergerName returns the name of the merger of a root type.
func MergerName(root string) string { return "mergerOf" + root }

// Struct is a struct type that is merged field by field.
type Struct struct {
	Value  *Value // the same type as a value
	Fields []Field
	// Union reports whether one field is the discriminator and the others are the
	// arms: another type drops the arms that were collected.
	Union bool
	// Keys are the fields by which elements of a list are equal; empty for a
	// struct that is not such an element.
	Keys []string
	// Leaves is the number of leaves of a complete struct, to which no lower conf
	// can add anything, or Endless.
	Leaves int
}

// Endless is the number of leaves of a struct that is never complete: it contains a
// list, map or union to which a lower conf can always add.
const Endless = -1

// Field is a field of a Struct.
type Field struct {
	Name string // in Go
	JSON string
	Rule Merging
}

// Merging defines how a field merges: one of Replace, Nested, Concat, Keyed, Map and
// Discriminator.
type Merging interface{ rule() }

// Replace is a leaf: the highest conf in which it is set replaces all others.
type Replace struct {
	Value *Value
	Set   Presence
	Zero  string // the zero value in Go, if Set is NotZero
}

// Presence defines when a leaf is set.
type Presence int

// The ways to be set.
const (
	NotNil  Presence = iota // pointers and lists
	NotZero                 // policyMerge:"omitzero"
	Always                  // policyMerge:"replace", and keys: if the struct is present
)

// Nested is a struct, or a pointer to one, that merges field by field.
type Nested struct {
	Struct  *Struct
	Pointer bool // nil is not set
}

// Concat is a list that is appended to.
type Concat struct {
	Elem   *Value
	Behind *Value // the list, if the field is a pointer to it: nil is not set
}

// Keyed is a list whose elements with equal keys merge.
type Keyed struct {
	Elem    *Struct
	Pointer bool // a list of pointers
	// HighestFirst puts the elements of a higher list before the elements of a lower one.
	HighestFirst bool
	Behind       *Value // as that of Concat
}

// Map is a map that merges by key.
type Map struct {
	Key  *Value
	Elem *Value
	// Struct is the struct that Elem is or points to if entries merge field by field,
	// and nil if they are replaced.
	Struct *Struct
}

// Discriminator is the field of a union that names its arm.
type Discriminator struct {
	Value *Value
}

func (Replace) rule()       {}
func (Nested) rule()        {}
func (Concat) rule()        {}
func (Keyed) rule()         {}
func (Map) rule()           {}
func (Discriminator) rule() {}
