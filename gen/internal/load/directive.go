package load

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
)

// Directive marks a root type, in the doc comment of the struct. The words hash and
// clone after it request the methods Hash and Clone.
const Directive = "//confgen:conf"

const directivePrefix = "//confgen:"

// findRoots collects the structs with the directive. It reports unknown directives,
// and directives in places where they have no effect.
func (p *Package) findRoots(files []*ast.File, problems *diag.List) {
	for _, file := range files {
		attached := make(map[*ast.Comment]bool)
		for _, decl := range file.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				spec := spec.(*ast.TypeSpec)
				doc := spec.Doc
				if doc == nil && !gen.Lparen.IsValid() {
					doc = gen.Doc
				}
				if comment := directive(doc); comment != nil {
					attached[comment] = true
					p.addRoot(spec, comment, problems)
				}
			}
		}
		p.checkDirectives(file, attached, problems)
	}
}

func (p *Package) addRoot(spec *ast.TypeSpec, comment *ast.Comment, problems *diag.List) {
	report := func(what, hint string) {
		problems.Add(diag.Diagnostic{Pos: p.Position(comment.Pos()), Path: spec.Name.Name, What: what, Hint: hint})
	}
	object, ok := p.Types.Scope().Lookup(spec.Name.Name).(*types.TypeName)
	switch {
	case !ok || object.Pos() != spec.Name.Pos():
		report("is declared twice", "remove one of the declarations")
		return
	case spec.Assign.IsValid():
		report(Directive+" on an alias", "move it to the type itself")
		return
	case spec.TypeParams != nil:
		report(Directive+" on a generic type", "write the type out")
		return
	}
	if _, ok := object.Type().Underlying().(*types.Struct); !ok {
		report(Directive+" on a type that is not a struct", "a conf is a struct with a field for each setting")
		return
	}
	root := Root{TypeName: object}
	for _, word := range strings.Fields(strings.TrimPrefix(comment.Text, Directive)) {
		switch word {
		case "hash":
			root.Hash = true
		case "clone":
			root.Clone = true
		default:
			report(fmt.Sprintf("unknown word %q after %s", word, Directive), "the words are hash and clone, which request these methods")
			return
		}
	}
	p.Roots = append(p.Roots, root)
}

func (p *Package) checkDirectives(file *ast.File, attached map[*ast.Comment]bool, problems *diag.List) {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			d := diag.Diagnostic{Pos: p.Position(comment.Pos())}
			switch text := strings.TrimSpace(comment.Text); {
			case attached[comment]:
				continue
			case isDirective(text):
				d.What = Directive + " has no effect here"
				d.Hint = "put it into the doc comment of a struct type, once, in a file that is built and is not a test"
			case strings.HasPrefix(text, directivePrefix):
				d.What = "unknown directive " + text
				d.Hint = "the only one is " + Directive
			case strings.HasPrefix(strings.ReplaceAll(text, " ", ""), Directive):
				d.What = text + " is a comment, not a directive"
				d.Hint = "write " + Directive
			default:
				continue
			}
			problems.Add(d)
		}
	}
}

func directive(doc *ast.CommentGroup) *ast.Comment {
	if doc == nil {
		return nil
	}
	for _, comment := range doc.List {
		if isDirective(comment.Text) {
			return comment
		}
	}
	return nil
}

// isDirective reports whether a comment is the directive, with or without
// words after it.
func isDirective(text string) bool {
	rest, ok := strings.CutPrefix(text, Directive)
	return ok && (strings.TrimSpace(rest) == "" || rest[0] == ' ' || rest[0] == '\t')
}
