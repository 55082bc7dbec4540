// Package dump reads the configuration that Envoys run, as their admin interface prints it (SPEC
// 19.1, 19.3). It depends on Envoy's messages, not on policies.
//
// [Read] reads a dump: the answer of /config_dump, as JSON in snake or lower camel case. A file
// of several pods is several proxies. [ParseProxies] makes the proxies from it in these steps:
//
//  1. It collects the routes and the extensions that listeners name.
//  2. It takes what is active: static listeners and the active state of dynamic ones. What warms
//     or drains is left out. What the proxy rejected is listed with the reason.
//  3. It makes each listener a list of chains, and each chain a list of filters: network filters,
//     then the HTTP filters of the connection manager, each with the overrides of routes.
//
// A message is an [Object]: fields are found by the names in Envoy's API. Nothing depends on the
// types that this program links, so an unknown extension stays visible with its type.
package dump
