package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// toYAML returns the YAML of an answer, with the keys in the order of its JSON.
func toYAML(answer any) ([]byte, error) {
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	doc, err := yamlNode(decoder)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	encoder := yaml.NewEncoder(&b)
	encoder.SetIndent(2)
	if err := encoder.Encode(doc); err != nil {
		return nil, err
	}
	err = encoder.Close()
	return b.Bytes(), err
}

// printYAML prints answers as a stream of YAML documents.
func printYAML[T any](w io.Writer, answers []T) error {
	return printDocuments(w, answers, toYAML, "---\n")
}

// printDocuments prints answers with a separator between them; nothing if one of them cannot
// be encoded.
func printDocuments[T any](w io.Writer, answers []T, encode func(any) ([]byte, error), separator string) error {
	var b bytes.Buffer
	for i := range answers {
		data, err := encode(answers[i])
		if err != nil {
			return err
		}
		if i > 0 {
			b.WriteString(separator)
		}
		b.Write(data)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// yamlNode converts the next JSON value. JSON is valid YAML except for keys of
// more than 1024 characters and strings with a DEL, so it cannot be copied.
func yamlNode(decoder *json.Decoder) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		if t == '{' {
			n.Kind, n.Tag = yaml.MappingNode, "!!map"
		}
		for decoder.More() {
			inner, err := yamlNode(decoder)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, inner)
		}
		if len(n.Content) == 0 {
			n.Style = yaml.FlowStyle // {} and []
		}
		_, err := decoder.Token() // the closing delimiter
		return n, err
	case string:
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: t} // the encoder quotes it if necessary
		if strings.Contains(t, "\n") {
			n.Style = yaml.LiteralStyle // where the text allows it
		}
		return n, nil
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: fmt.Sprint(token)} // true, 1, 0.5
	if token == nil {
		n.Value = "null"
	}
	return n, nil
}
