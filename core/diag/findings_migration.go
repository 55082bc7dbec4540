package diag

var definitionsOfMigration = []*Definition{
	{
		Code: KindNotRead, Class: ClassMigration, Title: "a kind is not read",
		Means: "Documents of the kind configure proxies, and a newer kind replaces it. No answer includes their configuration.",
		Example: `type: TrafficPermission
name: a
mesh: default
sources: [{match: {kuma.io/service: "*"}}]
destinations: [{match: {kuma.io/service: "*"}}]
`,
		Mend: "Write policies of the kind that the message names.",
	},
	{
		Code: DefaultPolicyMissing, Class: ClassMigration, Title: "a default policy is not in the input",
		Means: "A control plane creates these policies with a mesh. They have an effect only if they are in the input.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
`,
		Semantics: "kuma",
		Mend:      "Add them to the input if the mesh has them.",
	},
	{
		Code: FromNotRead, Class: ClassMigration, Title: "`from` is not read",
		Means: "By these semantics only rules are read. The items have no effect.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
---
type: MeshIdentity
name: mesh
spec:
  selector: {dataplane: {matchLabels: {}}}
  provider: {type: Spire}
---
type: MeshTrafficPermission
name: a
spec:
  from: [{default: {action: Allow}}]
`,
		Semantics: "kuma3",
		Mend:      "Write the items as rules.",
	},
	{
		Code: OtherSemantics, Class: ClassWarning, Title: "the engine reads policies by another semantics",
		Means: "A resource has a label that Kuma's control planes write, or is a MeshService. The commands read such an input as Kuma, and the program that embeds the engine chose `targetref`.",
		When:  "a Go program applies what it got from a control plane to an engine with the semantics TargetRef.",
		Mend:  "Choose the semantics by `core.Detect`, as the commands do, or keep it if the resources are written for it.",
	},
	{
		Code: TargetNotInKuma3, Class: ClassMigration, Title: "Kuma 3 selects other dataplanes",
		Means: "Kuma 3 reads only Mesh, and Dataplane with labels. A policy with a name selects every dataplane; a policy with another kind selects none.",
		When:  "A policy has a top-level targetRef with a name, proxyTypes or another kind, and is checked for Kuma 3.",
		Mend:  "Select by labels; `migrate` writes them if labels select the same dataplanes.",
	},
	{
		Code: ReferenceNotInKuma3, Class: ClassMigration, Title: "Kuma 3 does not find a destination or route",
		Means: "Kuma 3 reads only labels in references. An item that refers by name or by tags has no effect, and a backendRef answers with an error.",
		When:  "A `to` item or a backendRef has a name or tags, and is checked for Kuma 3.",
		Mend:  "Refer by labels; `migrate` writes the labels of the MeshService, MeshExternalService, MeshMultiZoneService or route.",
	},
	{
		Code: FromNotInKuma3, Class: ClassMigration, Title: "Kuma 3 does not read `from`",
		Means: "The items are silently ignored. Without its permissions an inbound denies its clients.",
		When:  "A policy has `from` items, and is checked for Kuma 3.",
		Mend:  "Write rules; `migrate` does if the SPIFFE IDs of the dataplanes distinguish the clients.",
	},
	{
		Code: TagsNotInKuma3, Class: ClassMigration, Title: "Kuma 3 has no tags",
		Means: "Kuma 3 selects dataplanes by labels, reads the protocol of an inbound in its own field, and makes no listener for an outbound with tags.",
		When:  "A Dataplane or the selector of a MeshService has tags, and is checked for Kuma 3.",
		Mend:  "Write labels and protocols, which `migrate` does, and backendRefs.",
	},
	{
		Code: FieldNotInKuma3, Class: ClassMigration, Title: "Kuma 3 does not have a field",
		Means: "The field is ignored, or the document is rejected. The message names the effect.",
		When:  "A document has a removed field, and is checked for Kuma 3.",
		Mend:  "Write the field that the message names; `migrate` moves fields that have another place.",
	},
	{
		Code: MTLSNotInKuma3, Class: ClassMigration, Title: "Kuma 3 serves the mesh in plain text",
		Means: "Only a MeshIdentity gives a dataplane a certificate. Without one its inbounds have no TLS, and no permission applies to them: every client is allowed.",
		When:  "A Mesh has an enabled mtls backend, a dataplane is selected by no MeshIdentity, and the input is checked for Kuma 3.",
		Mend:  "Write a MeshIdentity that selects every dataplane, and a MeshTrust, before the upgrade.",
	},
	{
		Code: KindNotInKuma3, Class: ClassMigration, Title: "Kuma 3 does not have a kind",
		Means: "Documents of the kind are not read, or rejected.",
		When:  "The input has a ZoneIngress, a ZoneEgress, a MeshGateway, its routes or a builtin gateway, and is checked for Kuma 3.",
		Mend:  "Write what the message names.",
	},
	{
		Code: ValueNotInKuma3, Class: ClassMigration, Title: "Kuma 3 rejects a value",
		Means: "A write of the document fails.",
		When:  "A name is not a DNS label, or a protocol is kafka, and the input is checked for Kuma 3.",
		Mend:  "Rename the resource, or use tcp.",
	},
	{
		Code: OpensInKuma3, Class: ClassMigration, Title: "permissions are not rewritten, because they would open an inbound",
		Means: "Rules for the SPIFFE IDs of the dataplanes would allow a request that the `from` items deny. The message contains such a request. The document is not changed, so that Kuma 3 denies.",
		When:  "`migrate` compares the rewritten permissions with the original ones.",
		Mend:  "Write the rules by hand, and compare them with `diff`.",
	},
}
