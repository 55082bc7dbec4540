package resource

import (
	"bytes"
	"encoding/json"
)

// MarshalInline prints one JSON object: the fields of head, which must have at
// least one, and then the fields of a conf.
func MarshalInline(head any, c Conf) ([]byte, error) {
	data, err := Marshal(head)
	if err != nil {
		return nil, err
	}
	fields, err := Marshal(c)
	if err != nil || string(fields) == "{}" {
		return data, err
	}
	return append(append(data[:len(data)-1], ','), fields[1:]...), nil
}

// Marshal prints JSON in one line and does not escape <, > and &.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
