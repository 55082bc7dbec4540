package fuzz

// requestMatches are what `matches` of a rule are made of: each way to compare
// (SPEC 7.2), two values where one overrides another, and the same match in
// two spellings.
// The first one has no condition, which a permission list refuses.
var requestMatches = []map[string]any{
	{},
	{"spiffeId": typed("Exact", "spiffe://td/a")},
	{"spiffeID": typed("Exact", "spiffe://td/a")},
	{"spiffeId": typed("Prefix", "spiffe://td/a")},
	{"spiffeId": typed("Prefix", "spiffe://td/longer")},
	{"spiffeId": typed("Prefix", "spiffe://td"), "method": "GET"},
	{"sni": "a.example"},
	{"sni": typed("Exact", "a.example")},
	{"path": typed("Exact", "/a")},
	{"path": typed("Prefix", "/a")},
	{"path": typed("Prefix", "/longer"), "sni": "a.example"},
	{"path": typed("RegularExpression", "/.*")},
	{"method": "GET"},
	{"method": "PUT"},
	{"headers": []any{header("x", "", "1")}},
	{"headers": []any{header("X", "Exact", "1")}},
	{"headers": []any{header("x", "Prefix", "1"), map[string]any{"name": "y", "type": "Present"}}},
	{"headers": []any{map[string]any{"name": "Y", "type": "Present"}, header("x", "Prefix", "1")}},
	{"headers": []any{map[string]any{"name": "x", "type": "Absent"}}, "method": "GET"},
}

func typed(kind, value string) map[string]any { return map[string]any{"type": kind, "value": value} }

func header(name, kind, value string) map[string]any {
	h := map[string]any{"name": name, "value": value}
	if kind != "" {
		h["type"] = kind
	}
	return h
}
