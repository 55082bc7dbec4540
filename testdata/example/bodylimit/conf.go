package bodylimit

//go:generate go tool confgen

// Conf limits the requests of an inbound.
//
//confgen:conf schema
type Conf struct {
	// MaxBytes is the largest body of a request, in bytes. Envoy answers 413 to a larger
	// one. Zero is no limit.
	MaxBytes *uint32 `json:"maxBytes,omitzero"`
}
