package fuzz

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/go-cmp/cmp"
)

// asTree returns an answer as what it is to a reader of JSON.
func asTree(answer any) (map[string]any, error) {
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("the answer has no JSON: %w", err)
	}
	tree, ok := parse(string(text)).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the answer is no JSON object: %s", text)
	}
	return tree, nil
}

// parse returns the tree of a JSON text, nil where it is none. Numbers stay as
// they are written.
func parse(text string) (tree any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil
	}
	return tree
}

// difference returns "" for equal trees. What makes a readable text of a
// difference takes longer than all the rest, so it is not asked before.
func difference(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got)
}

// list returns the objects of a list in an answer.
func list(object map[string]any, name string) []map[string]any {
	elems := asList(object[name])
	objects := make([]map[string]any, len(elems))
	for i, elem := range elems {
		objects[i], _ = elem.(map[string]any)
	}
	return objects
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

// dropFrom removes the rule views, of which only the meaning is laid down
// (SPEC 5.1), and which are compared by it. It returns how many there were.
func dropFrom(answer map[string]any) (dropped int) {
	for _, policy := range list(answer, "policies") {
		for _, inbound := range list(policy, "inbounds") {
			if _, ok := inbound["from"]; ok {
				delete(inbound, "from")
				dropped++
			}
		}
	}
	return dropped
}

// dropEmptyFields removes `fields` without a leaf: SPEC 10 does not tell
// whether they are absent or empty.
func dropEmptyFields(tree any) {
	switch tree := tree.(type) {
	case map[string]any:
		fields, isObject := tree["fields"].(map[string]any)
		if _, isC := tree["origins"]; isC && isObject && len(fields) == 0 {
			delete(tree, "fields")
		}
		for _, value := range tree {
			dropEmptyFields(value)
		}
	case []any:
		for _, value := range tree {
			dropEmptyFields(value)
		}
	}
}
