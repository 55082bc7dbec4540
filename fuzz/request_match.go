package fuzz

import "slices"

// requestMatches are the elements of `matches` and of permission lists. They cover
// each way to compare (SPEC 7.2), with values that can override each other, and each
// match in all its forms.
var requestMatches = [][]map[string]any{
	{{"spiffeId": typed("Exact", "spiffe://td/a")}, {"spiffeID": typed("Exact", "spiffe://td/a")}},
	{{"spiffeId": typed("Prefix", "spiffe://td/a")}},
	{{"spiffeId": typed("Prefix", "spiffe://td/longer/")}},
	{{"spiffeId": typed("Prefix", "spiffe://td"), "method": "GET"}},
	{{"spiffeId": typed("Prefix", "spiffe://td/")}},
	{{"sni": "a.example"}, {"sni": typed("Exact", "a.example")}, {"sni": "A.example"}},
	{{"sni": "k.example"}, {"sni": "K.EXAMPLE"}},
	{{"sni": "a.example", "spiffeId": typed("Exact", "spiffe://td/a")}},
	{{"path": typed("Exact", "/a")}},
	{{"path": typed("Prefix", "/a")}},
	{{"path": typed("Prefix", "/longer/")}},
	{{"path": typed("Prefix", "/longer"), "sni": "a.example"}},
	{{"path": typed("RegularExpression", "/.|/a/b")}},
	{{"path": typed("RegularExpression", "/a{1,3}(/b){0,2}")}},
	{{"path": typed("RegularExpression", "/[a-z]{2,}.*"), "method": "GET"}},
	{{"path": typed("Prefix", "/a"), "method": "GET"}},
	{{"method": "GET"}},
	{{"method": "PUT"}},
	{{"headers": []any{header("x", "", "1")}}, {"headers": []any{header("X", "Exact", "1")}}},
	{{"headers": []any{header("x", "RegularExpression", "1|2")}}},
	{{"headers": []any{header("x", "RegularExpression", "[0-9]{2}")}}},
	{{"headers": []any{header("x", "RegularExpression", "(?i)1ä|s")}}},
	{{"headers": []any{header("x", "Exact", "1,2")}}},
	{{"headers": []any{header("x", "Prefix", "1 ")}}},
	{{"headers": []any{header("host", "Exact", "a.example")}}},
	{{"headers": []any{header("cookie", "RegularExpression", "(.*; )?a=1(; .*)?")}}},
	{
		{"headers": []any{header("x", "Prefix", "1"), map[string]any{"name": "y", "type": "Present"}}},
		{"headers": []any{map[string]any{"name": "Y", "type": "Present"}, header("x", "Prefix", "1")}},
	},
	{{"headers": []any{map[string]any{"name": "x", "type": "Absent"}}, "method": "GET"}},
}

// matches returns the matches of a rule. Most are from a few in one scenario. So
// there are rules with equal sets of matches in another order, with repetitions or in
// another form.
func (m *meshMaker) matches() []map[string]any {
	matches := []map[string]any{}
	for range m.intn(4) {
		spellings := pick(m.choices, m.requests...)
		if m.rarely(4) {
			spellings = pick(m.choices, requestMatches...)
		}
		matches = append(matches, pick(m.choices, spellings...))
	}
	if m.rarely(8) {
		matches = slices.Insert(matches, 0, map[string]any{}) // for every request
	}
	return matches
}

func typed(kind, value string) map[string]any { return map[string]any{"type": kind, "value": value} }

func header(name, kind, value string) map[string]any {
	h := map[string]any{"name": name, "value": value}
	if kind != "" {
		h["type"] = kind
	}
	return h
}
