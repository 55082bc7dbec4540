// Package exported makes sound meshes of Kuma 2.14 in the forms in which operators have them:
// what `kubectl get -A -o yaml` prints of a zone or of a global control plane, and what `kumactl
// get -o yaml` prints of universal ones. Only tests import it.
//
// A world has what a control plane adds by itself (default policies, HostnameGenerators,
// labels, status, `networking.admin`, probes), the zone proxies, and what teams write: policies
// of each role, permissions by SPIFFE IDs, an external service, a service of two zones. It is
// sound: each policy has an effect, each reference finds something, and no client is denied
// that a team did not want to deny. So each finding about it is false or unimportant.
package exported
