// Command demo runs two proxies of the demo mesh and shows what its policies do.
//
//  1. The mesh is loaded, with certificates for two of its services (identity.yaml),
//     and moved to loopback addresses (mesh.go).
//  2. The workloads of backend-1 and payments-1 are started, and an Envoy for web-1 and
//     one for backend-1 from what `meshmatch snapshot --bootstrap` prints (demo.go).
//  3. A few requests are sent, and printed with their answers and the policies that
//     caused them (requests.go).
package main
