package descriptors

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// Set returns the descriptors of Envoy's API, and of what it imports, as a compressed
// FileDescriptorSet. The versions are those that the module of the working directory
// requires. Versions of the API before v3 are left out. The same versions give the same
// bytes.
func Set() ([]byte, error) {
	files, err := readPackages("github.com/envoyproxy/go-control-plane/envoy/...", "github.com/cncf/xds/go/...")
	if err != nil {
		return nil, err
	}
	data, err := proto.MarshalOptions{Deterministic: true}.Marshal(&descriptorpb.FileDescriptorSet{File: neededFiles(files)})
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// readPackages returns the descriptors in the generated files of packages and of all
// packages that they import, by path. Each pattern is one of `go list`.
func readPackages(patterns ...string) (map[string]*descriptorpb.FileDescriptorProto, error) {
	out, err := exec.Command("go", append([]string{"list", "-deps", "-f", "{{if not .Standard}}{{.Dir}}{{end}}"}, patterns...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list -deps %s: %w", strings.Join(patterns, " "), err)
	}
	files := map[string]*descriptorpb.FileDescriptorProto{}
	for _, dir := range strings.Fields(string(out)) {
		generated, err := filepath.Glob(filepath.Join(dir, "*.pb.go"))
		if err != nil {
			return nil, err
		}
		for _, path := range generated {
			file, err := readFile(path)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			if file != nil {
				files[file.GetName()] = file
			}
		}
	}
	return files, nil
}

// rootDirectories have the files of configs, of extensions, and of matchers and inputs, which
// are extensions too. TypedStruct, the config of an extension that Envoy has no descriptor of,
// is in xds/type, and by its older name in udpa/type.
var rootDirectories = []string{"envoy/config/", "envoy/extensions/", "envoy/type/", "xds/type/", "udpa/type/"}

// neededFiles returns the files of the roots, of version v3, and those that they import,
// sorted by path.
func neededFiles(files map[string]*descriptorpb.FileDescriptorProto) []*descriptorpb.FileDescriptorProto {
	needed := map[string]*descriptorpb.FileDescriptorProto{}
	var add func(path string)
	add = func(path string) {
		if file := files[path]; file != nil && needed[path] == nil {
			needed[path] = file
			for _, imported := range file.Dependency {
				add(imported)
			}
		}
	}
	for path := range files {
		root := slices.ContainsFunc(rootDirectories, func(directory string) bool { return strings.HasPrefix(path, directory) })
		if root && (strings.Contains(path, "/v3/") || strings.HasPrefix(path, "udpa/")) {
			add(path)
		}
	}
	return slices.SortedFunc(maps.Values(needed), func(a, b *descriptorpb.FileDescriptorProto) int {
		return strings.Compare(a.GetName(), b.GetName())
	})
}

// readFile returns the descriptor in a generated file, or nil if it has none. It is the
// value of the constant or variable with a name that ends in _rawDesc.
func readFile(path string) (*descriptorpb.FileDescriptorProto, error) {
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte("_rawDesc = ")) {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, decl := range file.Decls {
		general, ok := decl.(*ast.GenDecl)
		if !ok || general.Tok != token.CONST && general.Tok != token.VAR {
			continue
		}
		for _, spec := range general.Specs {
			value := spec.(*ast.ValueSpec)
			if !strings.HasSuffix(value.Names[0].Name, "_rawDesc") {
				continue
			}
			raw, err := bytesOf(value.Values[0])
			if err != nil {
				return nil, err
			}
			var descriptor descriptorpb.FileDescriptorProto
			return &descriptor, proto.Unmarshal(raw, &descriptor)
		}
	}
	return nil, nil
}

// bytesOf returns the bytes of an expression: a sum of string literals, or a slice of
// bytes, which older versions of protoc-gen-go wrote.
func bytesOf(expr ast.Expr) ([]byte, error) {
	switch expr := expr.(type) {
	case *ast.BinaryExpr:
		left, err := bytesOf(expr.X)
		if err != nil {
			return nil, err
		}
		right, err := bytesOf(expr.Y)
		return append(left, right...), err
	case *ast.BasicLit:
		if expr.Kind == token.STRING {
			return []byte(constant.StringVal(constant.MakeFromLiteral(expr.Value, token.STRING, 0))), nil
		}
		n, exact := constant.Uint64Val(constant.MakeFromLiteral(expr.Value, expr.Kind, 0))
		if !exact || n > math.MaxUint8 {
			return nil, fmt.Errorf("%s is not a byte", expr.Value)
		}
		return []byte{byte(n)}, nil
	case *ast.CompositeLit:
		var all []byte
		for _, element := range expr.Elts {
			b, err := bytesOf(element)
			if err != nil {
				return nil, err
			}
			all = append(all, b...)
		}
		return all, nil
	case *ast.CallExpr: // string([]byte{...})
		if len(expr.Args) == 1 {
			return bytesOf(expr.Args[0])
		}
	}
	return nil, fmt.Errorf("%T does not contain the bytes of a descriptor", expr)
}
