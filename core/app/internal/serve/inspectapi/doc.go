// Package inspectapi answers the questions of package inspect over HTTP (SPEC 10).
//
//	GET /meshes                                                 the names of the meshes
//	GET /meshes/{mesh}/dataplanes/{name}/_policies              confs of the dataplane as a whole
//	GET /meshes/{mesh}/dataplanes/{name}/_inbounds/{inbound}/_policies
//	GET /meshes/{mesh}/dataplanes/{name}/_outbounds/{outbound}/_policies
//	GET /meshes/{mesh}/dataplanes/{name}/_rules                 all rules, with the rule view of `to`
//	GET /meshes/{mesh}/{kind}/{name}/_dataplanes                the dataplanes that a policy selects
//
// and, with the parameters and the JSON of the commands of the same names:
//
//	GET /meshes/{mesh}/dataplanes/{name}/_inspect               ?kind=&shadow&explain&ordered&source
//	GET /meshes/{mesh}/dataplanes/{name}/_access                ?inbound=|port=&spiffe-id=&sni=&method=&path=&header=&tag=
//	GET /meshes/{mesh}/dataplanes/{name}/_conf                  ?kind=&outbound=&route=&inbound=&...
//	GET /meshes/{mesh}/_diff                                    ?shadow&kind=&policy=KIND/NAME
//	GET /meshes/{mesh}/_placement                               ?policy=NAME
//	GET /meshes/{mesh}/_variants                                ?kind=KIND&outbound=SERVICE
//
// A name may be NAMESPACE%2FNAME, or have the parameter namespace. Inbounds and
// outbounds are named by their KRIs, or as on the command line. Kinds may be short, in
// any letter case, and in the plural. A parameter without a value is true.
//
// A problem is {"status", "title", "detail"} (RFC 9457). The status is 400 for an invalid
// question, 404 if the path or the resource does not exist, and 405 for a method other than
// GET. It is 503 before the first load, and when too many questions are being answered. If
// an answer exceeds a limit (SPEC 5.5), it has the part within the limit, and the reasons
// as `incomplete`.
package inspectapi
