package conf

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/meshmatch/meshmatch/core/diag"
)

// Address is a host with a port: 127.0.0.1:5000, [::1]:5000 or
// logstash.infra:5000.
//
//confgen:openapi {"pattern": "^.+:0*[1-9][0-9]{0,4}$"}
type Address string

// Validate checks both parts.
func (a Address) Validate(at *diag.At) {
	if !validHostPort(string(a)) {
		at.Errorf(diag.BadValue, "write host:port, such as 127.0.0.1:5000", "bad address %q", string(a))
	}
}

// URL is an absolute http or https URL.
//
//confgen:openapi {"pattern": "^[Hh][Tt][Tt][Pp][Ss]?://.+$"}
type URL string

// Validate checks scheme, host and port.
func (u URL) Validate(at *diag.At) {
	if !validURL(string(u)) {
		at.Errorf(diag.BadValue, "write http://host:port/path", "bad URL %q", string(u))
	}
}

// Endpoint is the address of an OpenTelemetry collector: host:port for gRPC, or an
// http or https URL for HTTP.
//
//confgen:openapi {"minLength": 1}
type Endpoint string

// DefaultEndpointPort is the port of an endpoint without one, where Kuma allows that.
const DefaultEndpointPort = 4317

// Validate checks the host and the port. A control plane of Kuma reads host:port alone, and
// most kinds allow a host without a port; [ValidateEndpointPort] is for the others.
func (e Endpoint) Validate(at *diag.At) {
	const hint = "write host:port, such as collector.infra:4317, or http://host:port"
	_, isURL := e.URL()
	switch {
	case isURL:
		at.If(diag.AsKuma).Errorf(diag.BadValue, "write host:port; a collector by HTTP is a MeshOpenTelemetryBackend", "a control plane of Kuma refuses the URL %q", string(e))
	case !validHostPort(string(e)) && validHost(strings.Trim(string(e), "[]")):
		at.If(diag.AsTargetRef).Errorf(diag.BadValue, hint, "bad endpoint %q", string(e))
	case !validHostPort(string(e)):
		at.Errorf(diag.BadValue, hint, "bad endpoint %q", string(e))
	}
}

// ValidateEndpointPort reports an endpoint without a port where a control plane of Kuma refuses
// it. The endpoint may be nil.
func ValidateEndpointPort(at *diag.At, e *Endpoint) {
	if e == nil || validHostPort(string(*e)) {
		return
	}
	if _, isURL := e.URL(); !isURL {
		at.If(diag.AsKuma).Errorf(diag.BadValue, "write host:port", "bad endpoint %q: it has no port", string(*e))
	}
}

// HostPort returns the endpoint with its port, which is [DefaultEndpointPort] if it has none. It
// returns a URL as it is.
func (e Endpoint) HostPort() string {
	if _, isURL := e.URL(); isURL || validHostPort(string(e)) {
		return string(e)
	}
	return net.JoinHostPort(strings.Trim(string(e), "[]"), strconv.Itoa(DefaultEndpointPort))
}

// URL returns the endpoint as a URL, or false if it is host:port.
func (e Endpoint) URL() (u URL, isURL bool) { return URL(e), validURL(string(e)) }

// Path is the absolute path of a file or of an HTTP resource.
//
//confgen:openapi {"pattern": "^/"}
type Path string

// Validate checks that it starts with a slash, and that it fits into one line.
func (p Path) Validate(at *diag.At) {
	switch {
	case !strings.HasPrefix(string(p), "/"):
		at.Errorf(diag.BadPath, "", "must be a path that starts with /")
	case strings.ContainsFunc(string(p), isControl):
		at.Errorf(diag.BadPath, "remove it", "a path must not have a control character")
	}
}

func validHostPort(text string) bool {
	host, port, err := net.SplitHostPort(text)
	return err == nil && validHost(host) && validPort(port)
}

func validURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Opaque == "" &&
		validHost(u.Hostname()) && (u.Port() == "" || validPort(u.Port()))
}

// validHost accepts IP addresses and names. Names are not resolved, so only their
// characters are checked.
func validHost(host string) bool {
	return net.ParseIP(host) != nil || isName(host)
}

// isName reports whether a text has only letters, digits, '.', '-' and '_'.
func isName(text string) bool {
	return text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == ""
}

func validPort(text string) bool {
	port, err := strconv.ParseUint(text, 10, 16)
	return err == nil && port > 0
}
