package emit

import "testing"

func TestLower(t *testing.T) {
	for ident, want := range map[string]string{
		"Http":       "http",
		"HttpRoute":  "httpRoute",
		"TLS":        "tls",
		"URLRewrite": "urlRewrite",
		"A":          "a",
		"already":    "already",
	} {
		if got := lower(ident); got != want {
			t.Errorf("lower(%q) = %q, want %q", ident, got, want)
		}
	}
}

func TestNamesAvoidWhatIsTaken(t *testing.T) {
	n := newNames(map[string]bool{"state": true, "state2": true})
	first, fresh := n.nameFor("a thing", "state")
	if first != "state3" || !fresh {
		t.Errorf("the first name is %s (fresh: %t), want state3", first, fresh)
	}
	if again, fresh := n.nameFor("a thing", "other"); again != first || fresh {
		t.Errorf("the same key now has the name %s (fresh: %t)", again, fresh)
	}
	if other, _ := n.nameFor("another thing", "state"); other == first {
		t.Errorf("two keys have the name %s", other)
	}
}
