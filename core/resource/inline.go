package resource

import "github.com/meshmatch/meshmatch/core/conf"

// MarshalInline prints one JSON object: the fields of head, which must have at
// least one, and then the fields of a conf.
func MarshalInline(head any, c Conf) ([]byte, error) {
	data, err := conf.Marshal(head)
	if err != nil {
		return nil, err
	}
	fields, err := conf.Marshal(c)
	if err != nil || string(fields) == "{}" {
		return data, err
	}
	return append(append(data[:len(data)-1], ','), fields[1:]...), nil
}
