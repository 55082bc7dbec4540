package descriptors

import (
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
	var before map[string]bool
	for _, release := range releases {
		files, err := readModule(apiModule + "@v" + release + ".0")
		if err != nil {
			return nil, err
		}
		names := map[string]bool{}
		for _, file := range neededFiles(files) {
			addNames(names, file)
		}
		if before != nil {
			for _, name := range slices.Sorted(maps.Keys(names)) {
				if !before[name] && (before[outerOf(name)] || !names[outerOf(name)]) {
					text = fmt.Appendf(text, "%s %s\n", release, name)
				}
			}
		}
		before = names
	}
	return text, nil
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
func addNames(names map[string]bool, file *descriptorpb.FileDescriptorProto) {
	for _, m := range file.MessageType {
		addMessage(names, file.GetPackage()+"."+m.GetName(), m)
	}
	for _, e := range file.EnumType {
		addEnum(names, file.GetPackage()+"."+e.GetName(), e)
	}
}

func addMessage(names map[string]bool, name string, m *descriptorpb.DescriptorProto) {
	names[name] = true
	for _, f := range m.Field {
		names[name+"."+f.GetName()] = true
	}
	for _, inner := range m.NestedType {
		addMessage(names, name+"."+inner.GetName(), inner)
	}
	for _, e := range m.EnumType {
		addEnum(names, name+"."+e.GetName(), e)
	}
}

func addEnum(names map[string]bool, name string, e *descriptorpb.EnumDescriptorProto) {
	names[name] = true
	for _, v := range e.Value {
		names[name+"."+v.GetName()] = true
	}
}
