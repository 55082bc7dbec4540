package stories

// shop is a mesh with a client, web, and services of two dataplanes each: backend
// speaks HTTP, greeter gRPC and store TCP. The service cart has one dataplane. Those
// with number 1 are in the zone of web. Every client is allowed. The stories add their
// policies.
const shop = `
type: Dataplane
mesh: default
name: web
labels: {kuma.io/zone: east}
networking:
  address: 127.0.0.1
  inbound:
  - {name: http, port: 10000, serviceAddress: 127.0.0.1, servicePort: 10080, protocol: http, tags: {kuma.io/service: web}}
  outbound:
  - {address: 127.0.0.1, port: 10001, tags: {kuma.io/service: backend}}
  - {address: 127.0.0.1, port: 10002, tags: {kuma.io/service: store}}
  - {address: 127.0.0.1, port: 10003, tags: {kuma.io/service: greeter}}
  - {address: 127.0.0.1, port: 10004, tags: {kuma.io/service: cart}}
---
type: Dataplane
mesh: default
name: backend-1
labels: {kuma.io/zone: east}
networking:
  address: 127.0.0.11
  inbound:
  - {name: http, port: 10000, serviceAddress: 127.0.0.11, servicePort: 10080, protocol: http, tags: {kuma.io/service: backend, version: v1}}
---
type: Dataplane
mesh: default
name: backend-2
labels: {kuma.io/zone: west}
networking:
  address: 127.0.0.12
  inbound:
  - {name: http, port: 10000, serviceAddress: 127.0.0.12, servicePort: 10080, protocol: http, tags: {kuma.io/service: backend, version: v2}}
---
type: Dataplane
mesh: default
name: store-1
labels: {kuma.io/zone: east}
networking:
  address: 127.0.0.21
  inbound:
  - {name: tcp, port: 10000, serviceAddress: 127.0.0.21, servicePort: 10080, tags: {kuma.io/service: store, version: v1}}
---
type: Dataplane
mesh: default
name: store-2
labels: {kuma.io/zone: west}
networking:
  address: 127.0.0.22
  inbound:
  - {name: tcp, port: 10000, serviceAddress: 127.0.0.22, servicePort: 10080, tags: {kuma.io/service: store, version: v2}}
---
type: Dataplane
mesh: default
name: greeter-1
labels: {kuma.io/zone: east}
networking:
  address: 127.0.0.31
  inbound:
  - {name: grpc, port: 10000, serviceAddress: 127.0.0.31, servicePort: 10080, protocol: grpc, tags: {kuma.io/service: greeter}}
---
type: Dataplane
mesh: default
name: greeter-2
labels: {kuma.io/zone: west}
networking:
  address: 127.0.0.32
  inbound:
  - {name: grpc, port: 10000, serviceAddress: 127.0.0.32, servicePort: 10080, protocol: grpc, tags: {kuma.io/service: greeter}}
---
type: Dataplane
mesh: default
name: cart-1
labels: {kuma.io/zone: east}
networking:
  address: 127.0.0.41
  inbound:
  - {name: http, port: 10000, serviceAddress: 127.0.0.41, servicePort: 10080, protocol: http, tags: {kuma.io/service: cart}}
---
type: MeshTrafficPermission
mesh: default
name: all-clients
spec:
  from:
  - default: {action: Allow}
---
`

// identities gives each dataplane the SPIFFE ID spiffe://default.mesh.local/NAME.
const identities = `
type: MeshIdentity
mesh: default
name: identities
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID: {trustDomain: "{{ .Mesh }}.mesh.local", path: "/{{ .Name }}"}
  provider:
    type: Extension
    extension:
      name: files
      config:
        certificate: "/run/mesh/{{ .Name }}.pem"
        privateKey: "/run/mesh/{{ .Name }}.key"
        trustBundle: /run/mesh/ca.pem
---
`

// mail is a dataplane whose workload speaks first.
const mail = `
type: Dataplane
mesh: default
name: mail
networking:
  address: 127.0.0.61
  inbound:
  - {port: 10000, serviceAddress: 127.0.0.61, servicePort: 10080, tags: {kuma.io/service: mail, kuma.io/server-first: "true"}}
---
`
