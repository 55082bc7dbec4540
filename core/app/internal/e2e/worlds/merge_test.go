package worlds

import (
	"fmt"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/structpb"
)

// merge returns one bootstrap with the listeners, clusters and secrets of all.
func merge(all []*bootstrapv3.Bootstrap) (*bootstrapv3.Bootstrap, error) {
	merged := &bootstrapv3.Bootstrap{
		Node: all[0].Node, Admin: all[0].Admin, StaticResources: &bootstrapv3.Bootstrap_StaticResources{},
	}
	hosts := 0
	for i, b := range all {
		from := proto.Clone(b).(*bootstrapv3.Bootstrap).StaticResources
		r := renaming{}
		for _, c := range from.Clusters {
			r[c.Name] = fmt.Sprintf("%d:%s", i, c.Name)
			if c.LoadAssignment != nil {
				r[c.LoadAssignment.ClusterName] = r[c.Name]
			}
		}
		for _, s := range from.Secrets {
			r[s.Name] = fmt.Sprintf("%d:%s", i, s.Name)
		}
		for _, l := range from.Listeners {
			r[l.Name] = fmt.Sprintf("%d:%s", i, l.Name)
		}
		if err := r.rename(from.ProtoReflect()); err != nil {
			return nil, err
		}
		own := map[string]string{} // addresses of listeners by those in the mesh
		move := func(a *corev3.Address) {
			address := a.GetSocketAddress()
			if own[address.Address] == "" {
				hosts++
				own[address.Address] = fmt.Sprintf("127.%d.%d.%d", 1+hosts/62500, hosts/250%250, 1+hosts%250)
			}
			address.Address, address.Ipv4Compat = own[address.Address], false
		}
		for _, l := range from.Listeners {
			move(l.Address)
			for _, more := range l.AdditionalAddresses {
				move(more.Address)
			}
		}
		proto.Merge(merged.StaticResources, from)
	}
	return merged, nil
}

// renaming is new names of resources by the old ones.
type renaming map[string]string

// rename changes each text of a message that is an old name, even within messages in
// google.protobuf.Any.
func (r renaming) rename(m protoreflect.Message) (err error) {
	switch m := m.Interface().(type) {
	case *structpb.Struct:
		return nil // metadata
	case *anypb.Any:
		inner, err := m.UnmarshalNew()
		if err != nil {
			return err
		}
		if err := r.rename(inner.ProtoReflect()); err != nil {
			return err
		}
		return m.MarshalFrom(inner)
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap() && f.MapValue().Kind() == protoreflect.MessageKind:
			v.Map().Range(func(_ protoreflect.MapKey, v protoreflect.Value) bool {
				err = r.rename(v.Message())
				return err == nil
			})
		case f.IsList() && f.Kind() == protoreflect.MessageKind:
			for i := 0; i < v.List().Len() && err == nil; i++ {
				err = r.rename(v.List().Get(i).Message())
			}
		case f.IsMap() || f.IsList():
		case f.Kind() == protoreflect.MessageKind:
			err = r.rename(v.Message())
		case f.Kind() == protoreflect.StringKind && r[v.String()] != "":
			m.Set(f, protoreflect.ValueOfString(r[v.String()]))
		}
		return err == nil
	})
	return err
}
