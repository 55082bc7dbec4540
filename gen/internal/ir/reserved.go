package ir

import "slices"

// Builtins are the predeclared names that generated code uses: a package with
// root types cannot declare them.
var Builtins = []string{
	"bool", "float64", "int", "int32", "string", "uint64",
	"copy", "false", "len", "make", "max", "new", "nil", "true",
}

// locals are the names of variables in generated code.
var locals = []string{
	"a", "b", "c", "d", "i", "k", "m", "o", "s", "t", "v", "x", "y",
	"base", "complete", "dst", "entry", "item", "lower", "ok", "path", "set", "src", "sum", "yield",
}

// Reserved reports whether generated code cannot refer to a type or a package by this
// name. It cannot if it has a variable of that name or uses the builtin of that name.
func Reserved(name string) bool {
	return slices.Contains(locals, name) || slices.Contains(Builtins, name)
}
