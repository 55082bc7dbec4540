package load

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/meshmatch/meshmatch/gen/internal/diag"
)

// Directive marks a root type, in the doc comment of the struct. The words hash, clone
// and schema after it request the methods Hash, Clone and Schema.
const Directive = "//confgen:conf"

// SchemaDirective marks a struct that is not a conf and has only the method Schema.
const SchemaDirective = "//confgen:schema"

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
				if comment := directive(doc, Directive); comment != nil {
					attached[comment] = true
					p.addRoot(spec, comment, problems)
				}
				if comment := directive(doc, SchemaDirective); comment != nil {
					attached[comment] = true
					p.addDocument(spec, comment, problems)
				}
				attachLimits(attached, doc, spec)
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
		case "schema":
			p.Schemas = append(p.Schemas, object)
		default:
			report(fmt.Sprintf("unknown word %q after %s", word, Directive), "the words are hash, clone and schema, which request these methods")
			return
		}
	}
	p.Roots = append(p.Roots, root)
}

// addDocument adds a struct with [SchemaDirective].
func (p *Package) addDocument(spec *ast.TypeSpec, comment *ast.Comment, problems *diag.List) {
	object, ok := p.Types.Scope().Lookup(spec.Name.Name).(*types.TypeName)
	if ok && object.Pos() == spec.Name.Pos() && !spec.Assign.IsValid() && spec.TypeParams == nil && comment.Text == SchemaDirective {
		if _, ok := object.Type().Underlying().(*types.Struct); ok {
			p.Schemas = append(p.Schemas, object)
			return
		}
	}
	problems.Add(diag.Diagnostic{
		Pos: p.Position(comment.Pos()), Path: spec.Name.Name,
		What: comment.Text + " is not on a struct, or has words after it", Hint: "put " + SchemaDirective + " alone in the last line of the doc comment of a struct type",
	})
}

func (p *Package) checkDirectives(file *ast.File, attached map[*ast.Comment]bool, problems *diag.List) {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			d := diag.Diagnostic{Pos: p.Position(comment.Pos())}
			switch text := strings.TrimSpace(comment.Text); {
			case attached[comment]:
				continue
			case isDirective(text, OpenAPIDirective):
				d.What = OpenAPIDirective + " has no effect here"
				d.Hint = "put it into the doc comment of a type, or of a field of a struct type"
			case isDirective(text, TypeDirective):
				d.What = TypeDirective + " has no effect here"
				d.Hint = "put it into the doc comment of a field of a struct type"
			case isDirective(text, Directive) || isDirective(text, SchemaDirective):
				d.What, _, _ = strings.Cut(text, " ")
				d.What += " has no effect here"
				d.Hint = "put it into the doc comment of a struct type, once, in a file that is built and is not a test"
			case strings.HasPrefix(text, directivePrefix):
				d.What = "unknown directive " + text
				d.Hint = "they are " + Directive + ", " + SchemaDirective + ", " + OpenAPIDirective + " and " + TypeDirective
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

// directive returns the comment with that directive, or nil.
func directive(doc *ast.CommentGroup, name string) *ast.Comment {
	if doc == nil {
		return nil
	}
	for _, comment := range doc.List {
		if isDirective(comment.Text, name) {
			return comment
		}
	}
	return nil
}

// isDirective reports whether a comment is the directive of that name, with or without
// words after it.
func isDirective(text, name string) bool {
	rest, ok := strings.CutPrefix(text, name)
	return ok && (strings.TrimSpace(rest) == "" || rest[0] == ' ' || rest[0] == '\t')
}
