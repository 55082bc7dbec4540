package naive

import (
	"strconv"

	"github.com/meshmatch/meshmatch/core/resource"
)

const serviceTag = "kuma.io/service"

// lookup returns the value of a key, and whether it is present.
func lookup(tags resource.Tags, key string) (string, bool) {
	for _, tag := range tags {
		if tag.Key == key {
			return tag.Value, true
		}
	}
	return "", false
}

// hold reports whether tags contain all required tags; * requires only the key (SPEC
// 2.2).
func hold(required, tags resource.Tags) bool {
	for _, want := range required {
		value, present := lookup(tags, want.Key)
		if !present {
			return false
		}
		if want.Value != "*" && want.Value != value {
			return false
		}
	}
	return true
}

// isService reports whether tags belong to a service.
func isService(name string, tags resource.Tags) bool {
	value, present := lookup(tags, serviceTag)
	return present && value == name
}

// inboundName returns the inbound's name, or its port if it has no name (SPEC 2.2).
func inboundName(in *resource.Inbound) string {
	if in.Name == "" {
		return strconv.Itoa(int(in.Port))
	}
	return in.Name
}

// speaksHTTP reports whether the protocol of an inbound is HTTP (SPEC 1.3).
func speaksHTTP(in *resource.Inbound) bool {
	protocol := in.Protocol
	if protocol == "" {
		protocol, _ = lookup(in.Tags, "kuma.io/protocol")
	}
	switch protocol {
	case "http", "http2", "grpc":
		return true
	}
	return false
}
