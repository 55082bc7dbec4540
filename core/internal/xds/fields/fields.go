package fields

import "google.golang.org/protobuf/encoding/protowire"

// Each calls visit for the fields of an encoded message that have bytes, until it returns an
// error. It returns malformed for bytes that are no message.
func Each(b []byte, malformed error, visit func(number protowire.Number, value []byte) error) error {
	for len(b) > 0 {
		number, t, n := protowire.ConsumeTag(b)
		if n < 0 {
			return malformed
		}
		b = b[n:]
		if t != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, t, b); n < 0 {
				return malformed
			}
			b = b[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return malformed
		}
		if err := visit(number, value); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
