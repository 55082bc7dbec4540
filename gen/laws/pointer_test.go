package laws

import "testing"

func TestResolve(t *testing.T) {
	type part struct {
		List []int `json:"list"`
	}
	conf := struct {
		Parts  []*part        `json:"parts,omitzero"`
		Labels map[string]int `json:"a/b~"`
		Nil    *part          `json:"nil"`
	}{
		Parts:  []*part{nil, {List: []int{7, 8}}},
		Labels: map[string]int{"": 1, "x/~1": 2},
	}
	tests := []struct {
		pointer string
		want    any // nil if there is no such part
		inList  bool
	}{
		{"/parts/1/list/1", 8, true},
		{"/parts/1/list/2", nil, true},
		{"/parts/0/list", nil, true},
		{"/parts/-1", nil, true},
		{"/a~1b~0/", 1, false},
		{"/a~1b~0/x~1~01", 2, false},
		{"/a~1b~0/y", nil, false},
		{"/nil/list", nil, false},
		{"/other", nil, false},
	}
	for _, test := range tests {
		t.Run(test.pointer, func(t *testing.T) {
			v, ok := resolve(&conf, test.pointer)
			if ok != (test.want != nil) || ok && v.Interface() != test.want {
				t.Errorf("got %v (found: %t), want %v", v, ok, test.want)
			}
			if got := crossesList(&conf, test.pointer); got != test.inList {
				t.Errorf("crosses a list: %t", got)
			}
		})
	}
}
