package envoyapi

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

//go:embed zz_generated.descriptors.binpb.gz
var compressed []byte

// Types resolves the types of messages in a google.protobuf.Any: those that the program
// links, and the types of all extensions of Envoy. It is a resolver for packages protojson,
// anypb and proto. The zero Types is ready to use.
type Types struct{}

// FindMessageByName returns the type of a message, or [protoregistry.NotFound].
func (Types) FindMessageByName(name protoreflect.FullName) (protoreflect.MessageType, error) {
	if linked, err := protoregistry.GlobalTypes.FindMessageByName(name); err == nil {
		return linked, nil
	}
	set, err := load()
	if err != nil {
		return nil, err
	}
	return set.message(name)
}

// FindMessageByURL returns the type of a message by the URL in an Any, or
// [protoregistry.NotFound].
func (t Types) FindMessageByURL(url string) (protoreflect.MessageType, error) {
	return t.FindMessageByName(protoreflect.FullName(url[strings.LastIndexByte(url, '/')+1:]))
}

// FindExtensionByName returns an extension field that the program links.
func (Types) FindExtensionByName(field protoreflect.FullName) (protoreflect.ExtensionType, error) {
	return protoregistry.GlobalTypes.FindExtensionByName(field)
}

// FindExtensionByNumber returns an extension field that the program links.
func (Types) FindExtensionByNumber(message protoreflect.FullName, field protoreflect.FieldNumber) (protoreflect.ExtensionType, error) {
	return protoregistry.GlobalTypes.FindExtensionByNumber(message, field)
}

// registry is the embedded set. Files are added to the registry when they are
// needed.
type registry struct {
	byPath map[string]*descriptorpb.FileDescriptorProto
	paths  map[protoreflect.FullName]string // of the files, by top-level message

	mu    sync.Mutex // guards files
	files protoregistry.Files
}

// load returns the embedded set, which is read at the first call: 5 ms.
var load = sync.OnceValues(func() (*registry, error) {
	text, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, fmt.Errorf("descriptors of the API of Envoy: %w", err)
	}
	data, err := io.ReadAll(text)
	if err != nil {
		return nil, fmt.Errorf("descriptors of the API of Envoy: %w", err)
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(data, &set); err != nil {
		return nil, fmt.Errorf("descriptors of the API of Envoy: %w", err)
	}
	r := &registry{byPath: map[string]*descriptorpb.FileDescriptorProto{}, paths: map[protoreflect.FullName]string{}}
	for _, file := range set.File {
		r.byPath[file.GetName()] = file
		for _, message := range file.MessageType {
			r.paths[protoreflect.FullName(file.GetPackage()).Append(protoreflect.Name(message.GetName()))] = file.GetName()
		}
	}
	return r, nil
})

// names returns the full names of the messages that the set contains, sorted: those that
// the program links are among them.
func names() []string {
	set, err := load()
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(set.paths))
	for name := range set.paths {
		names = append(names, string(name))
	}
	slices.Sort(names)
	return names
}

// message returns the type of a message of the set.
func (r *registry) message(name protoreflect.FullName) (protoreflect.MessageType, error) {
	path, found := "", false
	for outer := name; outer != "" && !found; outer = outer.Parent() {
		path, found = r.paths[outer]
	}
	if !found {
		return nil, protoregistry.NotFound
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.FindFileByPath(path); err != nil {
		return nil, err
	}
	descriptor, err := r.files.FindDescriptorByName(name)
	if err != nil {
		return nil, err
	}
	message, ok := descriptor.(protoreflect.MessageDescriptor)
	if !ok {
		return nil, protoregistry.NotFound
	}
	return dynamicpb.NewMessageType(message), nil
}

// FindFileByPath returns a file that the program links or that the set contains. It is
// for package protodesc, while mu is held.
func (r *registry) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if linked, err := protoregistry.GlobalFiles.FindFileByPath(path); err == nil {
		return linked, nil
	}
	if known, err := r.files.FindFileByPath(path); err == nil {
		return known, nil
	}
	described := r.byPath[path]
	if described == nil {
		return nil, protoregistry.NotFound
	}
	file, err := protodesc.NewFile(described, r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, r.files.RegisterFile(file)
}

// FindDescriptorByName returns a descriptor of a file that the program links or that was
// found before. It is for package protodesc, while mu is held.
func (r *registry) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if linked, err := protoregistry.GlobalFiles.FindDescriptorByName(name); err == nil {
		return linked, nil
	}
	return r.files.FindDescriptorByName(name)
}
