package naive

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// rulesOf returns the rules of the only inbound, one per line: the match, the conf and
// the origins.
func rulesOf(t *testing.T, policies string) string {
	t.Helper()
	set := load(t, web+policies)
	inbound := inspectKind(t, set, "web-1", Options{Kind: "Params"})["inbounds"].([]any)[0].(map[string]any)
	rules, _ := inbound["rules"].([]any)
	var lines []string
	for _, entry := range rules {
		rule := entry.(map[string]any)
		match, err := json.Marshal(rule["match"])
		if err != nil {
			t.Fatal(err)
		}
		line := string(match) + " " + fmt.Sprint(rule["conf"])
		for _, origin := range rule["origins"].([]any) {
			o := origin.(map[string]any)
			line += fmt.Sprintf(" %s/%d", strings.Split(o["kri"].(string), "_")[5], o["index"])
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestRules(t *testing.T) {
	const low, high = "\n---\ntype: Params\nmesh: m\nname: a\nspec:\n  rules:\n", "\n---\ntype: Params\nmesh: m\nname: b\nspec:\n  rules:\n"
	tests := []struct{ name, policies, want string }{
		{"a rule without matches", low + `    - default: {param1: x}`, `{} map[param1:x] a/0`},
		{"a rule with no matches and one with an empty match are equal",
			low + `    - {matches: [{}], default: {param1: x}}` + high + `    - {matches: [], default: {param2: y}}`,
			`{} map[param1:x param2:y] a/0 b/0`},
		{"equal matches merge",
			low + `    - {matches: [{method: GET}], default: {param1: x, param2: x}}` + high + `    - {matches: [{method: GET}], default: {param2: y}}`,
			`{"method":"GET"} map[param1:x param2:y] a/0 b/0`},
		{"an overridden rule is no origin",
			low + `    - {matches: [{method: GET}], default: {param2: x}}` + high + `    - {matches: [{method: GET}], default: {param2: y}}`,
			`{"method":"GET"} map[param2:y] b/0`},
		{"sets: order and repetition have no meaning",
			low + `    - {matches: [{method: GET}, {method: PUT}, {method: GET}], default: {param1: x}}` +
				high + `    - {matches: [{method: PUT}, {method: GET}], default: {param2: y}}`,
			"{\"method\":\"PUT\"} map[param1:x param2:y] a/0 b/0\n{\"method\":\"GET\"} map[param1:x param2:y] a/0 b/0"},
		{"headers are a set, with names in any case and Exact by default",
			low + `    - {matches: [{headers: [{name: X, value: "1"}, {name: y, type: Present}]}], default: {param1: x}}` +
				high + `    - {matches: [{headers: [{name: Y, type: Present}, {name: x, type: Exact, value: "1"}]}], default: {param2: y}}`,
			`{"headers":[{"name":"Y","type":"Present"},{"name":"x","type":"Exact","value":"1"}]} map[param1:x param2:y] a/0 b/0`},
		{"other values differ",
			low + `    - {matches: [{headers: [{name: x, value: "1"}]}], default: {param1: x}}` +
				high + `    - {matches: [{headers: [{name: x, value: "2"}]}], default: {param2: y}}`,
			"{\"headers\":[{\"name\":\"x\",\"value\":\"2\"}]} map[param2:y] b/0\n{\"headers\":[{\"name\":\"x\",\"value\":\"1\"}]} map[param1:x] a/0"},
		{"ties: the higher policy first, then list order",
			low + "    - {matches: [{method: GET}], default: {param1: x}}\n    - {matches: [{method: PUT}], default: {param1: y}}" +
				high + `    - {matches: [{method: DELETE}, {method: HEAD}], default: {param1: z}}`,
			"{\"method\":\"DELETE\"} map[param1:z] b/0\n{\"method\":\"HEAD\"} map[param1:z] b/0\n{\"method\":\"GET\"} map[param1:x] a/0\n{\"method\":\"PUT\"} map[param1:y] a/1"},
		{"a merged rule is at the place of its highest one",
			low + "    - {matches: [{method: GET}], default: {param1: x}}\n    - {matches: [{method: PUT}], default: {param1: y}}" +
				high + `    - {matches: [{method: PUT}], default: {param2: z}}`,
			"{\"method\":\"PUT\"} map[param1:y param2:z] a/1 b/0\n{\"method\":\"GET\"} map[param1:x] a/0"},
		{"in one policy too",
			low + "    - {matches: [{method: GET}], default: {param1: x}}\n    - {matches: [{method: PUT}], default: {param1: y}}\n    - {matches: [{method: GET}], default: {param2: z}}",
			"{\"method\":\"PUT\"} map[param1:y] a/1\n{\"method\":\"GET\"} map[param1:x param2:z] a/0 a/2"},
		{"shadowed duplicates stay",
			low + "    - {matches: [{method: GET}, {method: PUT}], default: {param1: x}}\n    - {matches: [{method: GET}], default: {param1: y}}",
			"{\"method\":\"GET\"} map[param1:x] a/0\n{\"method\":\"PUT\"} map[param1:x] a/0\n{\"method\":\"GET\"} map[param1:y] a/1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := rulesOf(t, test.policies); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// SPEC 7.1, in the order of evaluation; the input has them in reverse.
func TestRuleOrder(t *testing.T) {
	order := []string{
		`{"spiffeId":{"type":"Exact","value":"spiffe://td/a"}}`,
		`{"sni":"a","spiffeId":{"type":"Prefix","value":"spiffe://td/longer"}}`,
		`{"path":{"type":"Exact","value":"/a"},"spiffeId":{"type":"Prefix","value":"spiffe://td/longer"}}`,
		`{"spiffeId":{"type":"Prefix","value":"spiffe://td/"}}`,
		`{"sni":"a"}`,
		`{"path":{"type":"Exact","value":"/"}}`,
		`{"path":{"type":"Prefix","value":"/longer"}}`,
		`{"method":"GET","path":{"type":"Prefix","value":"/a"}}`,
		`{"path":{"type":"Prefix","value":"/a"}}`,
		`{"path":{"type":"RegularExpression","value":"/.*longest"}}`,
		`{"method":"GET"}`,
		`{"headers":[{"name":"a","type":"Present"},{"name":"b","type":"Present"}]}`,
		`{"headers":[{"name":"a","type":"Present"}]}`,
		`{}`,
	}
	policy := "\n---\ntype: Params\nmesh: m\nname: a\nspec:\n  rules:\n"
	for i := range order {
		policy += fmt.Sprintf("    - {matches: [%s], default: {param1: x}}\n", order[len(order)-1-i])
	}
	for i, line := range strings.Split(rulesOf(t, policy), "\n") {
		if match, _, _ := strings.Cut(line, " "); match != order[i] {
			t.Errorf("place %d has %s, not %s", i, match, order[i])
		}
	}
}
