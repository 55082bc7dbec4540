package diag

var definitionsOfMigration = []*Definition{
	{
		Code: KindNotRead, Class: ClassMigration, Title: "a kind is not read",
		Means: "Documents of the kind configure proxies, and a newer kind replaces it. What they configure is in no answer.",
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
}
