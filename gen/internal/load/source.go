package load

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
)

// OpenAPIDirective gives limits that are not visible in a type, in the doc comment of the
// type or of a field: a JSON object with fields of an OpenAPI schema, which replace those
// that follow from the type.
//
//	//confgen:openapi {"minimum": 1, "maximum": 65535}
const OpenAPIDirective = "//confgen:openapi"

// TypeDirective names the type of a field that is decoded later, in the doc comment of
// the field: a type of the same package, or a list of one.
//
//	//confgen:type []outbound
const TypeDirective = "//confgen:type"

// Source is the source of the loaded packages and of all that they import: the doc
// comments of types and fields, and the words of types with a method Enum.
type Source struct {
	fset     *token.FileSet
	packages map[string]*packages.Package
	indexed  map[string]*declarations
}

// declarations contains what is declared in one package, by the position of the name.
type declarations struct {
	docs  map[token.Pos]*ast.CommentGroup
	enums map[string]*ast.FuncDecl // by type
}

func newSource(fset *token.FileSet, roots []*packages.Package) *Source {
	s := &Source{fset: fset, packages: map[string]*packages.Package{}, indexed: map[string]*declarations{}}
	packages.Visit(roots, nil, func(p *packages.Package) { s.packages[p.PkgPath] = p })
	return s
}

// Position returns the file, line and column of pos.
func (s *Source) Position(pos token.Pos) token.Position { return s.fset.Position(pos) }

// Doc returns the text of the doc comment of a type or field, without directives.
func (s *Source) Doc(object types.Object) string {
	return strings.TrimSpace(s.doc(object).Text())
}

// OpenAPI returns the JSON after [OpenAPIDirective] in the doc comment of a type or
// field, or "".
func (s *Source) OpenAPI(object types.Object) (text string, at token.Position) {
	comment := directive(s.doc(object), OpenAPIDirective)
	if comment == nil {
		return "", token.Position{}
	}
	return strings.TrimSpace(strings.TrimPrefix(comment.Text, OpenAPIDirective)), s.Position(comment.Pos())
}

// Type returns the type that [TypeDirective] names in the doc comment of a field, or nil
// if the field has none. It returns an error if there is no such type.
func (s *Source) Type(field *types.Var) (types.Type, error) {
	comment := directive(s.doc(field), TypeDirective)
	if comment == nil {
		return nil, nil
	}
	name, list := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(comment.Text, TypeDirective)), "[]")
	object, ok := field.Pkg().Scope().Lookup(name).(*types.TypeName)
	switch {
	case !ok:
		return nil, fmt.Errorf("the package has no type %q", name)
	case list:
		return types.NewSlice(object.Type()), nil
	}
	return object.Type(), nil
}

// Enum returns the words that the method Enum of a type returns. The method must return
// a list of constants: []string{...}, or a call with the constants as its arguments, such
// as conf.Words(A, B). Enum returns nil if the type has no such method.
func (s *Source) Enum(object *types.TypeName) ([]string, error) {
	if object.Pkg() == nil {
		return nil, nil
	}
	f := s.declarations(object.Pkg()).enums[object.Name()]
	if f == nil {
		return nil, nil
	}
	var results []ast.Expr
	if len(f.Body.List) == 1 {
		if statement, ok := f.Body.List[0].(*ast.ReturnStmt); ok && len(statement.Results) == 1 {
			switch list := statement.Results[0].(type) {
			case *ast.CompositeLit:
				results = list.Elts
			case *ast.CallExpr:
				results = list.Args
			}
		}
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("its Enum does not return a list of constants")
	}
	words := make([]string, len(results))
	for i, expression := range results {
		word, ok := wordOf(object.Pkg(), expression)
		if !ok {
			return nil, fmt.Errorf("its Enum returns a word that is not a constant of the package")
		}
		words[i] = word
	}
	return words, nil
}

// wordOf evaluates a string literal, a constant of the package, or a conversion of one.
func wordOf(pkg *types.Package, expression ast.Expr) (string, bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		word, err := strconv.Unquote(e.Value)
		return word, err == nil
	case *ast.Ident:
		c, ok := pkg.Scope().Lookup(e.Name).(*types.Const)
		if !ok || c.Val().Kind() != constant.String {
			return "", false
		}
		return constant.StringVal(c.Val()), true
	case *ast.CallExpr:
		if len(e.Args) == 1 {
			return wordOf(pkg, e.Args[0])
		}
	}
	return "", false
}

func (s *Source) doc(object types.Object) *ast.CommentGroup {
	if object.Pkg() == nil {
		return nil
	}
	return s.declarations(object.Pkg()).docs[object.Pos()]
}

// declarations reads the declarations of a package once.
func (s *Source) declarations(pkg *types.Package) *declarations {
	if known := s.indexed[pkg.Path()]; known != nil {
		return known
	}
	d := &declarations{docs: map[token.Pos]*ast.CommentGroup{}, enums: map[string]*ast.FuncDecl{}}
	s.indexed[pkg.Path()] = d
	loaded := s.packages[pkg.Path()]
	if loaded == nil {
		return d
	}
	for _, file := range loaded.Syntax {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if isEnum(decl) {
					d.enums[receiver(decl)] = decl
				}
			case *ast.GenDecl:
				d.add(decl)
			}
		}
	}
	return d
}

// add records the doc comments of types and of the fields of structs.
func (d *declarations) add(decl *ast.GenDecl) {
	for _, spec := range decl.Specs {
		spec, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		d.docs[spec.Name.Pos()] = typeDoc(decl, spec)
		eachField(spec, func(field *ast.Field, doc *ast.CommentGroup) {
			for _, name := range field.Names {
				d.docs[name.Pos()] = doc
			}
		})
	}
}

// typeDoc returns the doc comment of a type.
func typeDoc(decl *ast.GenDecl, spec *ast.TypeSpec) *ast.CommentGroup {
	if spec.Doc == nil && !decl.Lparen.IsValid() {
		return decl.Doc
	}
	return spec.Doc
}

// eachField calls f for the fields of all structs in a type, with their doc comments or
// the comments at the end of their lines.
func eachField(spec *ast.TypeSpec, f func(*ast.Field, *ast.CommentGroup)) {
	ast.Inspect(spec.Type, func(node ast.Node) bool {
		if list, ok := node.(*ast.StructType); ok {
			for _, field := range list.Fields.List {
				f(field, cmp.Or(field.Doc, field.Comment))
			}
		}
		return true
	})
}

// attachLimits records the comments of a type with [OpenAPIDirective] or [TypeDirective]
// at a place where they have an effect.
func attachLimits(attached map[*ast.Comment]bool, doc *ast.CommentGroup, spec *ast.TypeSpec) {
	attach := func(doc *ast.CommentGroup, name string) {
		if comment := directive(doc, name); comment != nil {
			attached[comment] = true
		}
	}
	attach(doc, OpenAPIDirective)
	eachField(spec, func(_ *ast.Field, doc *ast.CommentGroup) {
		attach(doc, OpenAPIDirective)
		attach(doc, TypeDirective)
	})
}

// isEnum reports whether a declaration is a method Enum with a body.
func isEnum(f *ast.FuncDecl) bool {
	return f.Name.Name == "Enum" && f.Recv != nil && f.Body != nil && receiver(f) != ""
}

// receiver returns the name of the type of a method, or "".
func receiver(f *ast.FuncDecl) string {
	t := f.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}
