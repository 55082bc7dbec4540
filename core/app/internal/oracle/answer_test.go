package oracle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// asTree returns an answer as the tree of its JSON.
func asTree(answer any) (map[string]any, error) {
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("the answer has no JSON: %w", err)
	}
	tree, ok := parse(string(text)).(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the answer is not a JSON object: %s", text)
	}
	return tree, nil
}

// parse returns the tree of a JSON text, or nil if it is not valid. Numbers are
// json.Number.
func parse(text string) (tree any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil
	}
	return tree
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

// dropActions removes the marks of policies with the shadow label, which the reference
// does not have.
func dropActions(answer map[string]any) {
	for _, policy := range list(answer, "policies") {
		for _, matched := range list(policy, "matched") {
			delete(matched, "action")
			delete(matched, "because")
		}
	}
}

// dropFrom removes the rule views of `from` and returns their number. SPEC 5.1
// defines only their meaning, which is compared separately.
func dropFrom(answer map[string]any) (dropped int) {
	for _, policy := range list(answer, "policies") {
		delete(policy, "to") // compared by outboundViews
		for _, inbound := range slices.Concat(list(policy, "inbounds"), list(policy, "listeners")) {
			if _, ok := inbound["from"]; ok {
				delete(inbound, "from")
				dropped++
			}
		}
	}
	return dropped
}

// dropEmptyFields removes `fields` without a leaf, which SPEC 10 allows to be absent
// or empty.
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

func asText(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%#v, which has no JSON: %v", v, err)
	}
	return string(text)
}
