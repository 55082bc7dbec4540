package diag

import "testing"

func TestClip(t *testing.T) {
	for _, c := range []struct {
		in   string
		most int
		want string
	}{{"abc", 3, "abc"}, {"abcd", 3, "abc..."}, {"aäb", 2, "a..."}, {"ää", 4, "ää"}, {"äää", 4, "ää..."}, {"😀", 1, "..."}} {
		if got := clip(c.in, c.most); got != c.want {
			t.Errorf("%s: got %s, want %s", c.in, got, c.want)
		}
	}
}
