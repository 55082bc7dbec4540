package schema

import (
	"go/types"
	"reflect"
	"strings"
)

// tag is the name of a field in files, and its options, by the tags of the field.
type tag struct {
	name, alias             string // empty: no name
	required, discriminator bool
}

func parseTag(text string) tag {
	tags := reflect.StructTag(text)
	name, options, _ := strings.Cut(tags.Get("json"), ",")
	if name == "-" {
		name = ""
	}
	return tag{
		name: name, alias: tags.Get("alias"),
		required:      !strings.Contains(options, "omitzero"),
		discriminator: tags.Get("policyMerge") == "discriminator",
	}
}

// union is a struct with a discriminator. The arm of a word is the field with the same
// name in any letter case.
type union struct {
	name   string // of the discriminator; empty: the struct is not a union
	words  any
	fields []unionField
}

type unionField struct {
	name   string
	needed bool // with its word
}

// conditions returns one condition for each arm: it is absent, or the discriminator has
// its word; and if it is needed, the discriminator has another word, or it is present.
func (u *union) conditions() []any {
	words, _ := u.words.([]string)
	if u.name == "" {
		return nil
	}
	var all []any
	for _, field := range u.fields {
		for _, word := range words {
			if !strings.EqualFold(field.name, word) {
				continue
			}
			present := Schema{"required": []string{field.name}}
			typed := Schema{"properties": Schema{u.name: Schema{"enum": []string{word}}}}
			all = append(all, Schema{"anyOf": []any{typed, Schema{"not": present}}})
			if field.needed {
				all = append(all, Schema{"anyOf": []any{present, Schema{"not": typed}}})
			}
		}
	}
	return all
}

// needed reports whether an arm of that type must be present: it is not a pointer to a
// struct, or the struct has a required field.
func (b *builder) needed(t types.Type) bool {
	pointer, ok := types.Unalias(t).(*types.Pointer)
	if !ok {
		return true
	}
	under, ok := pointer.Elem().Underlying().(*types.Struct)
	if !ok {
		return true
	}
	for i := range under.NumFields() {
		if tag := parseTag(under.Tag(i)); under.Field(i).Exported() && tag.name != "" && tag.required {
			return true
		}
	}
	return false
}
