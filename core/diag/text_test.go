package diag_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/diag"
)

func TestOneLine(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":                 {`a "b" 'c' \d`, `a "b" 'c' \d`},
		"letters":               {"ä 世界 😀", "ä 世界 😀"},
		"line break":            {"a\nb\r\tc", `a\nb\r\tc`},
		"escape sequence":       {"\x1b[31mred", `\x1b[31mred`},
		"delete and C1":         {"\x7f\u009b1m", `\x7f\u009b1m`},
		"right to left":         {"a\u202eb\u2066c", `a\u202eb\u2066c`},
		"no width":              {"a\u200bb\ufeffc", `a\u200bb\ufeffc`},
		"line separators":       {"a\u2028b\u2029c\u0085d", `a\u2028b\u2029c\u0085d`},
		"tag characters":        {"a\U000e0041", `a\U000e0041`},
		"not UTF-8":             {"a\x9b1m\xffb", `a\x9b1m\xffb`},
		"replacement character": {"a\ufffdb", "a\ufffdb"},
		"quote among escapes":   {"\"\n'", `"\n'`},
	} {
		if got := diag.OneLine(c.in); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc..."}, {"aäb", 2, "a..."}, {"ää", 4, "ää"}, {"äää", 4, "ää..."}, {"😀", 1, "..."}} {
		if got := diag.Clip(c.in, c.most); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
}

func TestCount(t *testing.T) {
	for _, test := range []struct {
		n    int
		noun string
		want string
	}{
		{0, "policy", "0 policies"},
		{1, "policy", "1 policy"},
		{2, "policy", "2 policies"},
		{1, "dataplane", "1 dataplane"},
		{3, "dataplane", "3 dataplanes"},
	} {
		if got := diag.Count(test.n, test.noun); got != test.want {
			t.Errorf("%d of %q: %q, want %q", test.n, test.noun, got, test.want)
		}
	}
}
