package translators

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"github.com/meshmatch/meshmatch/core/conf"
	"github.com/meshmatch/meshmatch/core/kind/meshproxypatch"
)

// Random patches have the result that the library has that Kuma uses, or both refuse them.
// Excluded are the whole resource and empty names, which the library confuses, and missing objects
// of a name with ~, which it makes by the name as it is written and then does not find.
func TestJSONPatchesAgreeWithKuma(t *testing.T) {
	random := rand.New(rand.NewPCG(48, 4))
	keys := []string{"a", "b", "l", "x~1y", "t~0u", "0", "1", "2", "5", "-", "-1", "-2"}
	values := []string{`1`, `"s"`, `null`, `{}`, `{"a": [1, {"b": null}]}`, `[]`, `[1, [2], {"a": 3}]`, `12345678901234567890.5`}
	pointer := func() string {
		var b strings.Builder
		for n := 1 + random.IntN(3); n > 0; n-- {
			key := keys[random.IntN(len(keys))]
			if strings.Contains(key, "~") && n > 1 {
				key = "a"
			}
			b.WriteString("/" + key)
		}
		return b.String()
	}
	applied := 0
	for i := range 40_000 {
		before := fmt.Sprintf(`{"a": %s, "l": [1, {"a": %s}, [3, 4]], "b": {"l": %[1]s, "x/y": 1, "t~u": {}}}`, values[random.IntN(len(values))], values[random.IntN(len(values))])
		var patches []meshproxypatch.JSONPatch
		for range 1 + random.IntN(4) {
			ops := meshproxypatch.JSONPatchOp("").Enum()
			p := meshproxypatch.JSONPatch{Op: meshproxypatch.JSONPatchOp(ops[random.IntN(len(ops))]), Path: meshproxypatch.JSONPointer(pointer())}
			switch p.Op {
			case meshproxypatch.JSONAdd, meshproxypatch.JSONReplace:
				value := conf.JSON(values[random.IntN(len(values))])
				p.Value = &value
			case meshproxypatch.JSONMove, meshproxypatch.JSONCopy:
				from := meshproxypatch.JSONPointer(pointer())
				p.From = &from
			}
			patches = append(patches, p)
		}
		got, err := applyJSONPatches([]byte(before), patches, &allowance{maxPatched})
		want, wantErr := byLibrary([]byte(before), patches)
		if wantErr != nil && (strings.Contains(wantErr.Error(), "panic") || strings.Contains(wantErr.Error(), "invalid state")) {
			continue // a fault of the library
		}
		text, _ := json.Marshal(patches)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%d: %s of %s: %s, %v; the library: %s, %v", i, text, before, got, err, want, wantErr)
		}
		if err != nil {
			continue
		}
		applied++
		gotTree, _ := decodeJSON(got)
		wantTree, _ := decodeJSON(want)
		if !reflect.DeepEqual(gotTree, wantTree) {
			t.Fatalf("%d: %s of %s: %s; the library: %s", i, text, before, got, want)
		}
	}
	if applied < 2_000 {
		t.Errorf("only %d patches apply", applied)
	}
}

func byLibrary(data []byte, patches []meshproxypatch.JSONPatch) (result []byte, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %v", fault)
		}
	}()
	text, err := json.Marshal(patches)
	if err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return nil, err
	}
	options := jsonpatch.NewApplyOptions()
	options.EnsurePathExistsOnAdd = true
	return patch.ApplyWithOptions(data, options)
}

// A patched resource has at most 1 MiB, and so has what the patches make.
func TestPatchedSize(t *testing.T) {
	from := meshproxypatch.JSONPointer("/a")
	copied := meshproxypatch.JSONPatch{Op: meshproxypatch.JSONCopy, From: &from, Path: "/b"}
	for size, fits := range map[int]bool{maxPatched / 3: true, maxPatched / 2: false, maxPatched * 2: false} {
		data := []byte(`{"a": "` + strings.Repeat("x", size) + `"}`)
		if _, err := applyJSONPatches(data, []meshproxypatch.JSONPatch{copied}, &allowance{4 << 20}); (err == nil) != fits {
			t.Errorf("a copy of %d bytes: %v", size, err)
		}
		if _, err := applyJSONPatches(data, []meshproxypatch.JSONPatch{copied}, &allowance{size / 2}); err == nil {
			t.Errorf("a copy of %d bytes is made, which are not left", size)
		}
	}
	if maxPatched != 1<<20 {
		t.Errorf("the limit is %d", maxPatched)
	}
}
