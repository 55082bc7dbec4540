package build

import (
	"fmt"
	"go/types"
	"reflect"
	"slices"
	"strings"
)

// tagKey is the key of the struct tag that chooses a rule.
const tagKey = "policyMerge"

// The words of the tag.
const (
	wordNone          = ""
	wordConcat        = "concat"
	wordByKey         = "mergeValuesByKey"
	wordByKeyHighest  = "mergeValuesByKey,highestFirst"
	wordKey           = "mergeKey"
	wordDiscriminator = "discriminator"
	wordReplace       = "replace"
	wordOmitZero      = "omitzero"
)

var words = []string{wordConcat, wordDiscriminator, wordKey, wordByKey, wordByKeyHighest, wordOmitZero, wordReplace}

// policyMerge returns the word of a tag, and false after an error.
func (b *builder) policyMerge(tag string, at place) (string, bool) {
	word, ok := reflect.StructTag(tag).Lookup(tagKey)
	switch {
	case strings.Count(tag, tagKey+":") > 1:
		b.report(at, fmt.Sprintf("the tag `%s` has %s twice", tag, tagKey), "keep one of them: a field merges in one way only")
		return "", false
	case !ok && mentionsTag(tag):
		b.report(at, fmt.Sprintf("the tag `%s` is malformed", tag), `write policyMerge:"word", with a space between tags`)
		return "", false
	case ok && !slices.Contains(words, word):
		b.report(at, fmt.Sprintf("unknown word in policyMerge:%q", word), "the words are "+strings.Join(words, ", "))
		return "", false
	}
	return word, true
}

// mentionsTag reports whether a tag contains the key, in any letter case. No other tool
// reports a misspelled key.
func mentionsTag(tag string) bool {
	return strings.Contains(strings.ToLower(tag), strings.ToLower(tagKey))
}

// refuse reports a word that has no effect on a shape.
func (b *builder) refuse(word, shape string, at place) bool {
	if word == wordNone {
		return false
	}
	b.report(at, fmt.Sprintf("policyMerge:%q has no effect on %s", word, shape), "remove it")
	return true
}

// appends reports whether a list with the name is appended to: AppendProfiles
// is, Appendix is not.
func appends(name string) bool {
	rest, ok := strings.CutPrefix(name, "Append")
	return ok && (rest == "" || rest == upper(rest))
}

// checkUnreadTags reports tags in structs of this package that are only replaced as a
// whole and never merged. A discriminator is allowed there, because decoders read it
// too.
func (b *builder) checkUnreadTags() {
	for _, named := range b.visited {
		if _, merged := b.structs[named.Obj()]; merged {
			continue
		}
		under := named.Underlying().(*types.Struct)
		union := false
		for i := range under.NumFields() {
			if !mentionsTag(under.Tag(i)) {
				continue
			}
			field := under.Field(i)
			at := place{path: named.Obj().Name() + "." + field.Name(), pos: field.Pos()}
			switch word, ok := b.policyMerge(under.Tag(i), at); {
			case !ok:
			case word != wordDiscriminator:
				b.report(at, fmt.Sprintf("policyMerge:%q has no effect: every %s is replaced whole", word, named.Obj().Name()), "remove it")
			case union:
				b.reportSecondDiscriminator(at)
			default:
				union = true
				b.discriminator(field.Type(), at)
			}
		}
	}
}

func (b *builder) reportSecondDiscriminator(at place) {
	b.report(at, "a second discriminator", "keep one: it names the arm of the union that is in use")
}
