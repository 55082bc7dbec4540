package emit

import (
	"bytes"
	"fmt"
	"strings"
	"text/template"

	"github.com/dave/jennifer/jen"
)

// qual returns a name of another package in Go text, for [source].
func qual(path, name string) string { return mark + path + mark + name + mark }

// mark separates the two parts of a qualified name from the text around it. No Go
// source contains it.
const mark = "\x00"

// source returns Go text as jennifer's code. The file that contains the code imports
// the packages of its qualified names.
func source(text string) *jen.Statement {
	parts := strings.Split(text, mark)
	code := jen.Id(parts[0])
	for i := 1; i < len(parts); i += 3 {
		code.Qual(parts[i], parts[i+1]).Id(parts[i+2])
	}
	return code
}

// parts are the values in a template, by their names.
type parts map[string]any

// expand returns a template, which contains Go text, with its parts. In addition to
// them a template has the functions qual and support.
func (e *emitter) expand(text string, parts parts) string {
	functions := template.FuncMap{"qual": qual, "support": e.supportName, "digest": func() string { return qual(xxhash, "Digest") }}
	var out strings.Builder
	if err := template.Must(template.New("").Funcs(functions).Parse(text)).Execute(&out, parts); err != nil {
		panic(fmt.Sprintf("emit: %v", err))
	}
	return out.String()
}

// print adds declarations to the file.
func (e *emitter) print(declarations ...string) {
	for _, declaration := range declarations {
		e.file.Add(source(declaration)).Line()
	}
}

// render returns the file, gofmt'd.
func (e *emitter) render(what, path string) ([]byte, error) {
	var out bytes.Buffer
	if err := e.file.Render(&out); err != nil {
		return nil, fmt.Errorf("generated %s for %s: %w", what, path, err)
	}
	return out.Bytes(), nil
}

// block prints a block of statements, or the fields of a struct. The body may be empty.
func block(body string) string {
	if body == "" {
		return "{}"
	}
	return "{\n" + body + "\n}"
}

// comment prints a comment of one or more lines.
func comment(text string) string {
	return "// " + strings.ReplaceAll(text, "\n", "\n// ") + "\n"
}
