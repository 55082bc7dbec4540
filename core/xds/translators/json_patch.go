package translators

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
)

// applyJSONPatches returns a resource as JSON after the operations of RFC 6902, as the library
// that Kuma uses applies them:
//
//   - add makes the objects and lists of its path that are missing, and fills a list with null up
//     to the index;
//   - a negative index is counted from the end of the list.
//
// What an operation would make is weighed before it is made: values, copies, filled lists and
// the elements that it moves in a list. So neither a copy of a copy nor the many changes of a long
// list take more than a fixed multiple of what is left.
func applyJSONPatches(data []byte, patches []meshproxypatch.JSONPatch, left *allowance) ([]byte, error) {
	tree, err := decodeJSON(data)
	if err != nil {
		return nil, err
	}
	p := jsonPatcher{left}
	for i := range patches {
		if tree, err = p.apply(tree, &patches[i]); err != nil {
			return nil, fmt.Errorf("the patch does not apply: %s %s: %w", patches[i].Op, patches[i].Path, err)
		}
	}
	if isDeeper(tree, maxJSONDepth) {
		return nil, fmt.Errorf("the resource would be nested deeper than %d levels", maxJSONDepth)
	}
	if data, err = json.Marshal(tree); err == nil && len(data) > maxPatched {
		err = errTooLarge
	}
	return data, err
}

// maxPatched is the limit of the size of a patched resource as JSON, and of what the patches of one
// modification make.
const maxPatched = 1 << 20

// maxJSONDepth is the limit of the nesting of a patched resource.
const maxJSONDepth = 1000

// movedElements are the elements of a list that are moved in the time in which a byte of JSON is read.
const movedElements = 16

var (
	errTooLarge = errors.New("the resource would have more than 1 MiB")
	errNoPlace  = errors.New("the resource has no such field or element")
)

// jsonPatcher changes trees of map[string]any, []any, json.Number, string, bool and nil. It
// changes them in place where it can: a caller uses the returned one.
type jsonPatcher struct{ *allowance }

// allowance is what one modification may still make, in bytes.
type allowance struct{ left int }

func (a *allowance) take(n int) error {
	if a.left -= n; a.left < 0 {
		return errTooLarge
	}
	return nil
}

func (p *jsonPatcher) apply(tree any, patch *meshproxypatch.JSONPatch) (any, error) {
	var value any
	var err error
	switch patch.Op {
	case meshproxypatch.JSONAdd, meshproxypatch.JSONReplace:
		if err = p.take(len(*patch.Value)); err == nil {
			value, err = decodeJSON([]byte(*patch.Value))
		}
	case meshproxypatch.JSONCopy, meshproxypatch.JSONMove:
		tree, err = p.edit(tree, keysOf(*patch.From), false, func(in any, key string) (any, error) {
			found, has := inner(in, key)
			if !has {
				return nil, errNoPlace
			}
			if patch.Op == meshproxypatch.JSONMove {
				value = found
				return p.remove(in, key)
			}
			value, err = p.clone(found)
			return in, err
		})
	}
	if err != nil {
		return nil, err
	}
	return p.edit(tree, keysOf(patch.Path), patch.Op == meshproxypatch.JSONAdd, func(in any, key string) (any, error) {
		switch patch.Op {
		case meshproxypatch.JSONRemove:
			return p.remove(in, key)
		case meshproxypatch.JSONReplace:
			if _, has := inner(in, key); !has {
				return nil, errNoPlace
			}
			return withInner(in, key, value), nil
		}
		return p.add(in, key, value)
	})
}

// edit calls a function with the object or list that has the last key, and returns the tree with
// what the function returns in its place. Without keys, that is an object that has the tree. If
// edit makes what is missing, it takes null for missing.
func (p *jsonPatcher) edit(tree any, keys []string, makes bool, change func(in any, key string) (any, error)) (any, error) {
	switch len(keys) {
	case 0:
		root, err := change(map[string]any{"": tree}, "")
		if err != nil {
			return nil, err
		}
		return root.(map[string]any)[""], nil
	case 1:
		return change(tree, keys[0])
	}
	child, has := inner(tree, keys[0])
	missing := !has || makes && child == nil
	var err error
	if missing {
		if _, list := tree.([]any); !makes || list && keys[0] == "-" {
			return nil, errNoPlace
		}
		if tree, err = p.filled(tree, keys[0]); err == nil {
			child, err = p.empty(keys[1])
		}
	}
	if err == nil {
		child, err = p.edit(child, keys[1:], makes, change)
	}
	switch {
	case err != nil:
		return nil, err
	case missing:
		return p.add(tree, keys[0], child)
	}
	return withInner(tree, keys[0], child), nil
}

// empty returns what has a key: an object, or a list that is filled up to the index.
func (p *jsonPatcher) empty(key string) (any, error) {
	if _, is := indexOf(key, 0); is || key == "-" {
		return p.filled([]any{}, key)
	}
	return map[string]any{}, nil
}

// filled returns a list with null up to an index. It returns anything else as it is.
func (p *jsonPatcher) filled(tree any, key string) (any, error) {
	list, is := tree.([]any)
	index, counts := indexOf(key, len(list))
	if !is || !counts || index <= len(list) {
		return tree, nil
	}
	missing := index - len(list)
	if err := p.take(missing * len("null,")); err != nil {
		return nil, err
	}
	return append(list, make([]any, missing)...), nil
}

func (p *jsonPatcher) add(in any, key string, value any) (any, error) {
	switch in := in.(type) {
	case map[string]any:
		in[key] = value
		return in, nil
	case []any:
		index, is := indexOf(key, len(in)+1)
		if key == "-" {
			index, is = len(in), true
		}
		if is && index >= 0 && index <= len(in) {
			if err := p.take((len(in) - index) / movedElements); err != nil {
				return nil, err
			}
			return slices.Insert(in, index, value), nil
		}
	}
	return nil, errNoPlace
}

func (p *jsonPatcher) remove(in any, key string) (any, error) {
	if _, has := inner(in, key); !has {
		return nil, errNoPlace
	}
	list, is := in.([]any)
	if !is {
		delete(in.(map[string]any), key)
		return in, nil
	}
	index, _ := indexOf(key, len(list))
	if err := p.take((len(list) - index) / movedElements); err != nil {
		return nil, err
	}
	return slices.Delete(list, index, index+1), nil
}

// clone returns a copy of a tree.
func (p *jsonPatcher) clone(tree any) (any, error) {
	err := p.take(len("null,"))
	switch tree := tree.(type) {
	case map[string]any:
		c := make(map[string]any, len(tree))
		for key, child := range tree {
			if err == nil {
				err = p.take(len(key))
			}
			if err == nil {
				c[key], err = p.clone(child)
			}
			if err != nil {
				return nil, err
			}
		}
		return c, nil
	case []any:
		c := []any{}
		for _, child := range tree {
			child, err := p.clone(child)
			if err != nil {
				return nil, err
			}
			c = append(c, child)
		}
		return c, nil
	case string:
		if err == nil {
			err = p.take(len(tree))
		}
	}
	return tree, err
}

// inner returns the field of an object or the element of a list.
func inner(in any, key string) (value any, has bool) {
	switch in := in.(type) {
	case map[string]any:
		value, has = in[key]
	case []any:
		if index, is := indexOf(key, len(in)); is && index >= 0 && index < len(in) {
			return in[index], true
		}
	}
	return value, has
}

// withInner returns an object or a list with another value of a key that it has.
func withInner(in any, key string, value any) any {
	switch in := in.(type) {
	case map[string]any:
		in[key] = value
	case []any:
		index, _ := indexOf(key, len(in))
		in[index] = value
	}
	return in
}

// indexOf returns the index that a key is, and false if it is none. A negative one is counted from
// an end.
func indexOf(key string, end int) (index int, ok bool) {
	index, err := strconv.Atoi(key)
	if err != nil || key[0] == '+' {
		return 0, false
	}
	if index < 0 {
		index += end
	}
	return index, true
}

var unescapedKey = strings.NewReplacer("~1", "/", "~0", "~")

// keysOf returns the keys of a JSON pointer; none if it is of the whole.
func keysOf(pointer meshproxypatch.JSONPointer) []string {
	keys := strings.Split(string(pointer), "/")[1:]
	for i := range keys {
		keys[i] = unescapedKey.Replace(keys[i])
	}
	return keys
}

// decodeJSON returns the tree of a text, with numbers as they are written.
func decodeJSON(data []byte) (tree any, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	err = d.Decode(&tree)
	return tree, err
}

// isDeeper reports whether a tree has more than some levels.
func isDeeper(tree any, levels int) bool {
	if levels < 0 {
		return true
	}
	switch tree := tree.(type) {
	case map[string]any:
		for _, child := range tree {
			if isDeeper(child, levels-1) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(tree, func(child any) bool { return isDeeper(child, levels-1) })
	}
	return false
}
