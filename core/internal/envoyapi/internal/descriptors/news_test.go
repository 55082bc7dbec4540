package descriptors

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
)

// News are additions, what is gone and fields of another form. What is in a message that is
// added or gone has no line of its own.
func TestNews(t *testing.T) {
	field := func(name string, number int32, of descriptorpb.FieldDescriptorProto_Type, deprecated bool) *descriptorpb.FieldDescriptorProto {
		return &descriptorpb.FieldDescriptorProto{
			Name: proto.String(name), Number: proto.Int32(number), Type: of.Enum(), Options: &descriptorpb.FieldOptions{Deprecated: proto.Bool(deprecated)},
		}
	}
	file := func(messages ...*descriptorpb.DescriptorProto) names {
		all := names{}
		addNames(all, &descriptorpb.FileDescriptorProto{Package: proto.String("p"), MessageType: messages, EnumType: []*descriptorpb.EnumDescriptorProto{
			{Name: proto.String("E"), Value: []*descriptorpb.EnumValueDescriptorProto{{Name: proto.String("A"), Number: proto.Int32(int32(len(messages)))}}},
		}})
		return all
	}
	message := func(name string, fields ...*descriptorpb.FieldDescriptorProto) *descriptorpb.DescriptorProto {
		return &descriptorpb.DescriptorProto{Name: proto.String(name), Field: fields}
	}
	const text, number = descriptorpb.FieldDescriptorProto_TYPE_STRING, descriptorpb.FieldDescriptorProto_TYPE_UINT32
	before := file(message("M", field("same", 1, text, false), field("typed", 2, text, false), field("old", 3, text, false), field("left", 4, text, false)),
		message("Gone", field("inside", 1, text, false)))
	after := file(message("M", field("same", 1, text, false), field("typed", 2, number, false), field("old", 3, text, true), field("new", 5, number, false)),
		message("New", field("inside", 1, text, false)), message("Newer"))
	want := []string{
		"~ p.E.A: 2, now 3", "- p.Gone", "- p.M.left", "+ p.M.new", "~ p.M.old: string 3, now deprecated string 3", "~ p.M.typed: string 2, now uint32 2",
		"+ p.New", "+ p.Newer",
	}
	if got := before.news(after); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := after.news(after); len(got) > 0 {
		t.Errorf("a version differs from itself: %q", got)
	}
}
