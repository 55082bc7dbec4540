package resource

import (
	"bytes"
	"encoding/json"
)

// MarshalInline prints one JSON object: the fields of head, which has some,
// followed by those of a conf.
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

// Marshal prints JSON in one line that leaves <, > and & alone.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
