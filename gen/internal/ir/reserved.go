package ir

// Reserved are the names of types that generated code can not refer to,
// because it has variables, or Go has builtins that it uses, of that name.
var Reserved = reserved(
	"a", "b", "c", "d", "e", "i", "k", "m", "n", "o", "s", "v", "x", "y",
	"at", "base", "dst", "entry", "fresh", "found", "grown", "hash", "item", "key", "keys", "list", "lower",
	"ok", "path", "run", "set", "src", "sum", "used", "yield",
	"any", "bool", "byte", "float64", "int", "int32", "string", "uint64",
	"append", "cap", "copy", "false", "len", "make", "max", "new", "nil", "true",
)

func reserved(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}
