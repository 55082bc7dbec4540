// Package replicas tests several replicas of the command that follow one real store, an
// etcd of three members or the API server of Kubernetes. Meanwhile replicas and stores
// are killed, paused, cut off or slow.
//
//  1. A replica is a process of its own: this test binary, run as the command
//     (replica_test.go).
//  2. A place is a store, to which numbered states are written (place_test.go,
//     etcd_test.go, cluster_test.go). Each resource of a state has its number, so a mix of
//     two states is seen.
//  3. Clients subscribe what the replicas serve, reconnect, and record each response
//     (client_test.go).
//  4. TestFaults makes faults at random by a seed, with a log of its steps
//     (faults_test.go). Its checks are in checks_test.go.
//  5. TestThreeReplicas sends requests through an Envoy while replicas and stores are killed.
//
// `make e2e-stores` runs all of them, with 50 seeds. FAULT_SEED=7 repeats one run, and
// FAULT_RUNS=1000 makes more.
package replicas
