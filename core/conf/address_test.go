package conf_test

import (
	"testing"

	"github.com/meshmatch/meshmatch/core/conf"
)

func TestAddresses(t *testing.T) {
	check[conf.Address](t, cases{
		`127.0.0.1:5000`:      `"127.0.0.1:5000"`,
		`"[::1]:5000"`:        `"[::1]:5000"`,
		`logstash.infra:5000`: `"logstash.infra:5000"`,
		`logstash`:            `f:1:1: bad address "logstash"; write host:port, such as 127.0.0.1:5000`,
		`":5000"`:             `f:1:1: bad address ":5000"; write host:port, such as 127.0.0.1:5000`,
		`a:0`:                 `f:1:1: bad address "a:0"; write host:port, such as 127.0.0.1:5000`,
		`a:65536`:             `f:1:1: bad address "a:65536"; write host:port, such as 127.0.0.1:5000`,
		`a b:1`:               `f:1:1: bad address "a b:1"; write host:port, such as 127.0.0.1:5000`,
	})
	check[conf.URL](t, cases{
		`http://zipkin:9411/api/v2/spans`: `"http://zipkin:9411/api/v2/spans"`,
		`https://a`:                       `"https://a"`,
		`ftp://a`:                         `f:1:1: bad URL "ftp://a"; write http://host:port/path`,
		`http://`:                         `f:1:1: bad URL "http://"; write http://host:port/path`,
		`http://a:99999`:                  `f:1:1: bad URL "http://a:99999"; write http://host:port/path`,
		`/path`:                           `f:1:1: bad URL "/path"; write http://host:port/path`,
	})
	check[conf.Endpoint](t, cases{
		`otel`:             `"otel"`, // in a way to read documents of Kuma: port 4317
		`otel:x`:           `f:1:1: bad endpoint "otel:x"; write host:port, such as collector.infra:4317, or http://host:port`,
		`otel.infra:4317`:  `"otel.infra:4317"`,
		`"[fd00::1]:4317"`: `"[fd00::1]:4317"`,
		`http://otel:4318`: `"http://otel:4318"`,
		`https://otel/v1`:  `"https://otel/v1"`,
		`http://otel:0`:    `f:1:1: bad endpoint "http://otel:0"; write host:port, such as collector.infra:4317, or http://host:port`,
		`grpc://otel`:      `f:1:1: bad endpoint "grpc://otel"; write host:port, such as collector.infra:4317, or http://host:port`,
		`otel/traces`:      `f:1:1: bad endpoint "otel/traces"; write host:port, such as collector.infra:4317, or http://host:port`,
		`""`:               `f:1:1: bad endpoint ""; write host:port, such as collector.infra:4317, or http://host:port`,
	})
	check[conf.Path](t, cases{`/a/b`: `"/a/b"`, `a/b`: `f:1:1: must be a path that starts with /`})
}
