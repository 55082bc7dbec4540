package meshhealthcheck

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Base64 is bytes encoded in base64. This is the documentation of Kuma, but Kuma's code
// uses the text itself as the bytes, so a text such as "PING" may be meant literally.
//
//confgen:openapi {"pattern": "^[A-Za-z0-9+/\\r\\n]*={0,2}[\\r\\n]*$"}
type Base64 string

// Validate checks that the text can be decoded. It warns of a text that is probably not
// encoded.
func (b Base64) Validate(at *diag.At) {
	data, err := base64.StdEncoding.DecodeString(string(b))
	if err != nil {
		at.Errorf(diag.BadValue, "encode the bytes; the text itself is "+encode(string(b)), "bad base64: %v", err)
		return
	}
	if text := b.unencoded(data); text != "" {
		at.Warnf(diag.LikelyMistake, "if the text is meant, write "+encode(text), "the value is base64 of the bytes %x, which no protocol uses", data)
	}
}

// Bytes returns the bytes.
func (b Base64) Bytes() []byte {
	data, _ := base64.StdEncoding.DecodeString(string(b)) // validated
	return data
}

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// word matches texts that are rarely base64, because base64 has letters of both
// cases and digits.
var word = regexp.MustCompile(`^\+?([A-Z]+|[A-Z]?[a-z]+)[0-9]*$`)

// unencoded returns the text that the user probably meant, a word or hexadecimal digits,
// or "" if the value is probably base64. Such a text decodes to bytes that are neither
// text nor a message of a binary protocol. A message would have a zero byte in a length
// or a flag.
func (b Base64) unencoded(decoded []byte) string {
	plain := strings.TrimRight(string(b), "\r\n")
	text, err := hex.DecodeString(plain)
	isHex := err == nil && isText(text)
	switch {
	case bytes.IndexByte(decoded, 0) >= 0, isText(decoded) && !(isHex && !isASCII(decoded) && isASCII(text)):
		return ""
	case word.MatchString(plain):
		return string(b)
	case isHex:
		return string(text)
	}
	return ""
}

func isASCII(data []byte) bool {
	return !bytes.ContainsFunc(data, func(r rune) bool { return r >= utf8.RuneSelf })
}

// isText reports whether bytes are text of one or more lines.
func isText(data []byte) bool {
	return utf8.Valid(data) && !strings.ContainsFunc(string(data), func(r rune) bool {
		return !unicode.IsPrint(r) && !strings.ContainsRune("\t\r\n", r)
	})
}
