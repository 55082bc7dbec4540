package replay

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines contains records and malformed lines, which are also seeds of the fuzz
// target.
var lines = []struct {
	name, line string
	want       map[string]any // the present fields; nil: the line is malformed
}{
	{"texts", `{"path":"/a","method":"GET"}`, map[string]any{"path": "/a", "method": "GET"}},
	{"null is no text", `{"path":null}`, map[string]any{"path": nil}},
	{"an empty text", `{"path":""}`, map[string]any{"path": ""}},
	{"nothing", `{}`, map[string]any{}},
	{"blanks", " { \"path\" :\t\"/a\" , \"method\": null } \r", map[string]any{"path": "/a", "method": nil}},
	{"other fields of any type", `{"a":{"path":"/no","b":[1,{"x":"}"}]},"n":-1.5e3,"t":true,"path":"/a","z":[],"e":{}}`, map[string]any{"path": "/a"}},
	{"escapes", `{"path":"/\"\\\u0061\n","x-team":"\ud83d\ude00"}`, map[string]any{"path": "/\"\\a\n", "x-team": "😀"}},
	{"an escaped name", `{"p\u0061th":"/a"}`, map[string]any{"path": "/a"}},
	{"names have a letter case", `{"Path":"/a"}`, map[string]any{}},
	{"the authority", `{"authority":"shop"}`, map[string]any{"authority": "shop"}},
	{"other fields twice", `{"a":1,"a":2}`, map[string]any{}},
	{"no JSON", `path=/a`, nil},
	{"two objects", `{} {}`, nil},
	{"a list", `[]`, nil},
	{"a text", `"path"`, nil},
	{"null", `null`, nil},
	{"a number as a text", `{"path":5}`, nil},
	{"an object as a text", `{"path":{}}`, nil},
	{"twice", `{"path":"/a","path":"/a"}`, nil},
	{"null, then a text", `{"path":null,"path":"/a"}`, nil},
	{"no UTF-8", "{\"path\":\"/\xff\"}", nil},
	{"no UTF-8 elsewhere", "{\"a\":\"\xff\"}", nil},
	{"a control character", "{\"path\":\"/\x01\"}", nil},
	{"cut off", `{"path":"/a`, nil},
	{"deep", strings.Repeat(`[`, 20_000) + strings.Repeat(`]`, 20_000), nil},
}

func testFields(t testing.TB) *Fields {
	t.Helper()
	f, err := NewFields([]string{"x-team", "x-tenant"}, map[string]string{"X-TENANT": "tenant"})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// parsed returns the fields of a line by key, or the reason why the line is not
// a record.
func parsed(f *Fields, line string) (map[string]any, error) {
	values := make([]value, len(f.list))
	if err := new(parser).parse(f, []byte(line), line, values); err != nil {
		return nil, err
	}
	got := map[string]any{}
	for i, v := range values {
		switch v.is {
		case given:
			got[f.list[i].Key] = v.text
		case absent:
			got[f.list[i].Key] = nil
		}
	}
	return got, nil
}

func TestRecords(t *testing.T) {
	f := testFields(t)
	for _, test := range lines {
		got, err := parsed(f, test.line)
		if (err == nil) != (test.want != nil) {
			t.Errorf("%s: the error is %v", test.name, err)
			continue
		}
		if diff := cmp.Diff(test.want, got); err == nil && diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

// FuzzRecord compares the reader of records with package encoding/json.
func FuzzRecord(f *testing.F) {
	for _, seed := range lines {
		f.Add(seed.line)
	}
	fields := testFields(f)
	f.Fuzz(func(t *testing.T, line string) {
		got, err := parsed(fields, line)
		want, isRecord := naiveRecord(fields, line)
		if (err == nil) != isRecord {
			t.Fatalf("%q: the error is %v; it is a record: %v", line, err, isRecord)
		}
		if diff := cmp.Diff(want, got); isRecord && diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	})
}

// naiveRecord reads a line token by token.
func naiveRecord(f *Fields, line string) (map[string]any, bool) {
	decoder := json.NewDecoder(strings.NewReader(line))
	if !json.Valid([]byte(line)) || strings.ToValidUTF8(line, "") != line {
		return nil, false
	}
	if token, _ := decoder.Token(); token != json.Delim('{') {
		return nil, false
	}
	out := map[string]any{}
	for decoder.More() {
		token, _ := decoder.Token()
		key := token.(string)
		var value any
		if err := decoder.Decode(&value); err != nil {
			return nil, false
		}
		if _, wanted := f.keys[key]; !wanted {
			continue
		}
		if _, twice := out[key]; twice {
			return nil, false
		}
		switch value.(type) {
		case nil, string:
			out[key] = value
		default:
			return nil, false
		}
	}
	return out, true
}

func TestFields(t *testing.T) {
	f, err := NewFields([]string{"host", "method", "x-b", "x-a"}, map[string]string{"path": "p", "x-c": "c"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, field := range f.All() {
		got = append(got, field.Key+" "+field.Operator)
	}
	want := []string{
		"authority %REQ(:AUTHORITY)%", "c %REQ(X-C)%", "connection_termination_details %CONNECTION_TERMINATION_DETAILS%",
		"downstream_local_address %DOWNSTREAM_LOCAL_ADDRESS%", "downstream_peer_uri_san %DOWNSTREAM_PEER_URI_SAN%", "method %REQ(:METHOD)%", "p %REQ(:PATH)%",
		"requested_server_name %REQUESTED_SERVER_NAME%", "response_code_details %RESPONSE_CODE_DETAILS%", "start_time %START_TIME%", "x-a %REQ(X-A)%", "x-b %REQ(X-B)%",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, logged := f.headers["method"]; logged {
		t.Error("the field method is that of the request, not of the header method")
	}
}

func TestParseRenamed(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"path=p":            {"path": "p"},
		"path=p,x-a=a b":    {"path": "p", "x-a": "a b"},
		"path=a=b":          {"path": "a=b"},
		"":                  nil,
		"path":              nil,
		"path=":             nil,
		"=p":                nil,
		"a b=p":             nil,
		"path=p,":           nil,
		"path=p,path=p":     nil,
		":path=p":           nil,
		"method=m,method=n": nil,
	} {
		got, err := ParseRenamed(text)
		if (err == nil) != (want != nil) || want != nil && !cmp.Equal(want, got) {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, renamed := range []map[string]string{{"path": "method"}, {"path": "p", "method": "p"}, {"host": "a", "authority": "b"}, {"X-A": "a", "x-a": "b"}} {
		if _, err := NewFields(nil, renamed); err == nil {
			t.Errorf("%v is accepted", renamed)
		}
	}
}
