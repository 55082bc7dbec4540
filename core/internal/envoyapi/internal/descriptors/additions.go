package descriptors

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/descriptorpb"
)

// apiModule has Envoy's API. Since 1.35 its versions are those of Envoy.
const apiModule = "github.com/envoyproxy/go-control-plane/envoy"

// Additions returns what each release of Envoy's API has in addition to the release before
// it, as lines of the form "1.37 NAME". Releases are minor versions in ascending order, such
// as "1.36"; the first one has no lines. The modules are downloaded if they are not in the
// module cache.
//
// A name is the full name of a message, of a field, or of a value of an enum after the full
// name of the enum. What is in an added message has no line of its own.
func Additions(releases []string) ([]byte, error) {
	var text []byte
	var before names
	for _, release := range releases {
		after, err := readNames("v" + release + ".0")
		if err != nil {
			return nil, err
		}
		if before != nil {
			for _, name := range slices.Sorted(maps.Keys(after)) {
				if before.lacks(name, after) {
					text = fmt.Appendf(text, "%s %s\n", release, name)
				}
			}
		}
		before = after
	}
	return text, nil
}

// News returns what differs between two versions of the module of Envoy's API, such as v1.40.0
// and latest, as sorted lines: "+ NAME" for a name as in [Additions], "- NAME" for one that is
// gone, and "~ NAME: BEFORE, now AFTER" for a field or a value of another form.
func News(from, to string) (lines []string, err error) {
	before, err := readNames(from)
	if err != nil {
		return nil, err
	}
	after, err := readNames(to)
	if err != nil {
		return nil, err
	}
	return before.news(after), nil
}

func (n names) news(after names) (lines []string) {
	for name, form := range after {
		switch was, ok := n[name]; {
		case n.lacks(name, after):
			lines = append(lines, "+ "+name)
		case ok && was != form:
			lines = append(lines, fmt.Sprintf("~ %s: %s, now %s", name, was, form))
		}
	}
	for name := range n {
		if after.lacks(name, n) {
			lines = append(lines, "- "+name)
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Or(cmp.Compare(a[2:], b[2:]), cmp.Compare(a, b)) })
	return lines
}

// names are the forms of messages, fields, enums and their values, by full name.
type names map[string]string

// lacks reports whether n lacks a name of others, and has what the name is in.
func (n names) lacks(name string, others names) bool {
	has := func(n names, name string) bool { _, ok := n[name]; return ok }
	return !has(n, name) && (has(n, outerOf(name)) || !has(others, outerOf(name)))
}

// readNames returns the names in a version of the module of the API.
func readNames(version string) (names, error) {
	files, err := readModule(apiModule + "@" + version)
	if err != nil {
		return nil, err
	}
	all := names{}
	for _, file := range neededFiles(files) {
		addNames(all, file)
	}
	return all, nil
}

// readModule returns the descriptors in the generated files of a version of a module, by path.
func readModule(version string) (map[string]*descriptorpb.FileDescriptorProto, error) {
	out, err := exec.Command("go", "mod", "download", "-json", version).Output()
	if err != nil {
		return nil, fmt.Errorf("go mod download %s: %w: %s", version, err, out)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return nil, err
	}
	files := map[string]*descriptorpb.FileDescriptorProto{}
	err = filepath.WalkDir(module.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".pb.go") {
			return err
		}
		file, err := readFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if file != nil {
			files[file.GetName()] = file
		}
		return nil
	})
	return files, err
}

// outerOf returns the name without its last element.
func outerOf(name string) string { return name[:max(strings.LastIndexByte(name, '.'), 0)] }

// addNames adds the names of a file.
func addNames(all names, file *descriptorpb.FileDescriptorProto) {
	for _, m := range file.MessageType {
		addMessage(all, file.GetPackage()+"."+m.GetName(), m)
	}
	for _, e := range file.EnumType {
		addEnum(all, file.GetPackage()+"."+e.GetName(), e)
	}
}

func addMessage(all names, name string, m *descriptorpb.DescriptorProto) {
	all[name] = formOf("message", m.GetOptions().GetDeprecated())
	for _, f := range m.Field {
		form := strings.ToLower(strings.TrimPrefix(f.GetType().String(), "TYPE_"))
		if f.TypeName != nil {
			form = strings.TrimPrefix(f.GetTypeName(), ".")
		}
		if f.GetLabel() == descriptorpb.FieldDescriptorProto_LABEL_REPEATED {
			form = "repeated " + form
		}
		all[name+"."+f.GetName()] = formOf(fmt.Sprintf("%s %d", form, f.GetNumber()), f.GetOptions().GetDeprecated())
	}
	for _, inner := range m.NestedType {
		addMessage(all, name+"."+inner.GetName(), inner)
	}
	for _, e := range m.EnumType {
		addEnum(all, name+"."+e.GetName(), e)
	}
}

func addEnum(all names, name string, e *descriptorpb.EnumDescriptorProto) {
	all[name] = formOf("enum", e.GetOptions().GetDeprecated())
	for _, v := range e.Value {
		all[name+"."+v.GetName()] = formOf(fmt.Sprint(v.GetNumber()), v.GetOptions().GetDeprecated())
	}
}

func formOf(form string, deprecated bool) string {
	if deprecated {
		return "deprecated " + form
	}
	return form
}
