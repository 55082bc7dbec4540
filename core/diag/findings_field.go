package diag

var definitionsOfField = []*Definition{
	{
		Code: UnknownKind, Class: ClassError, Title: "the kind is not known",
		Means: "No kind of resource, or of targetRef, has this name. The hint contains the nearest name.",
		Example: `type: MeshTimeouts
name: a
spec: {}
`,
		Mend: "Correct the name of the kind.",
	},
	{
		Code: UnknownField, Class: ClassError, Title: "the field is not known",
		Means: "The kind has no such field. Its value would have no effect.",
		Example: `type: MeshTimeout
name: a
spec:
  to:
    - default: {idleTimeuot: 1h}
`,
		Mend: "Correct the name of the field, or remove it.",
	},
	{
		Code: MissingField, Class: ClassError, Title: "a required field is missing",
		Means: "The value cannot be used without this field, or without it for this type.",
		Example: `type: MeshFaultInjection
name: a
spec:
  rules:
    - default:
        http: [{abort: {httpStatus: 500}}]
`,
		Mend: "Add the field.",
	},
	{
		Code: DuplicateEntry, Class: ClassError, Title: "an entry is given twice",
		Means: "A mapping has a field twice, or a list has two entries that must differ. Which one would have an effect depends on the reader.",
		Example: `type: MeshTimeout
name: a
spec:
  to:
    - default: {idleTimeout: 1h, idleTimeout: 2h}
`,
		Mend: "Remove one of them.",
	},
	{
		Code: WrongType, Class: ClassError, Title: "the value has the wrong type",
		Means: "The field takes a value of another type, such as a text and not a number, or must not be null.",
		Example: `type: MeshTimeout
name: a
spec:
  to:
    - default: {idleTimeout: [1h]}
`,
		Mend: "Write a value of the type that the message names.",
	},
	{
		Code: FieldNotAllowed, Class: ClassError, Title: "the field does not belong here",
		Means: "The field exists, but has no meaning together with the other fields of its value.",
		Example: `type: MeshTimeout
name: a
spec:
  targetRef: {kind: Mesh, tags: {version: v1}}
  to:
    - default: {idleTimeout: 1h}
`,
		Mend: "Remove the field, or change the field that the message names.",
	},
	{
		Code: BothPresent, Class: ClassError, Title: "two fields exclude each other",
		Means: "Two fields that mean the same in different ways are both present.",
		Example: `type: MeshTimeout
name: a
spec:
  from: [{default: {idleTimeout: 1h}}]
  rules: [{default: {idleTimeout: 1h}}]
`,
		Mend: "Remove one of them.",
	},
	{
		Code: EmptyValue, Class: ClassError, Title: "the value is empty",
		Means: "A text, list or mapping that must have content is empty.",
		Example: `type: Dataplane
name: web
networking:
  address: ""
`,
		Mend: "Fill it, or remove the field if it is optional.",
	},
	{
		Code: UnknownValue, Class: ClassError, Title: "the word is not known",
		Means: "The field takes one of a few words; this is a different word.",
		Example: `type: MeshTrafficPermission
name: a
spec:
  from: [{default: {action: Permit}}]
`,
		Mend: "Use one of the words that the message lists.",
	},
	{
		Code: OutOfRange, Class: ClassError, Title: "the value is out of range",
		Means: "A number, duration or length is smaller or larger than the field allows.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 70000, tags: {kuma.io/service: web}}]
`,
		Mend: "Use a value in the range that the message names.",
	},
	{
		Code: BadValue, Class: ClassError, Title: "the text does not have the form of the field",
		Means: "The field takes texts of one form, such as a duration, an address or a host name.",
		Example: `type: MeshTimeout
name: a
spec:
  to:
    - default: {idleTimeout: "5"}
`,
		Mend: "Write the value in the form that the message shows.",
	},
	{
		Code: BadRegex, Class: ClassError, Title: "the regular expression is not valid",
		Means: "The expression is not in the syntax of RE2, or Envoy would refuse it because of its size.",
		Example: `type: MeshTrafficPermission
name: a
spec:
  rules:
    - default:
        allow: [{path: {type: RegularExpression, value: "/a(b"}}]
`,
		Mend: "Write it in the syntax of RE2, with smaller repetitions.",
	},
	{
		Code: BadSPIFFEID, Class: ClassError, Title: "the SPIFFE ID or trust domain is not valid",
		Means: "No client can have this identity, because it does not have the form that SPIFFE prescribes.",
		Example: `type: MeshTrafficPermission
name: a
spec:
  rules:
    - default:
        allow: [{spiffeId: {type: Exact, value: "spiffe://UPPER/x"}}]
`,
		Mend: "Write spiffe://trust-domain/path.",
	},
	{
		Code: BadTag, Class: ClassError, Title: "the tag or service name is not valid",
		Means: "Keys and values of tags, and names of services, have letters, digits and a few other characters.",
		Example: `type: Dataplane
name: web
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web, version: v 1}}]
`,
		Mend: "Use letters, digits, \".\", \"_\", \":\" and \"-\".",
	},
	{
		Code: BadCertificate, Class: ClassError, Title: "the certificate is not valid",
		Means: "The text is not a list of certificates in PEM.",
		Example: `type: MeshTrust
name: a
spec:
  trustDomain: prod.example
  caBundles: [{type: Pem, pem: {value: "abc"}}]
`,
		Mend: "Give the PEM text of the CA certificates, without private keys.",
	},
	{
		Code: BadPath, Class: ClassError, Title: "the path cannot be compared",
		Means: "A path begins with / and is compared without query and fragment; a prefix is compared by segment.",
		Example: `type: MeshTrafficPermission
name: a
spec:
  rules:
    - default:
        allow: [{path: {type: Exact, value: "pay"}}]
`,
		Mend: "Write the path as the message says.",
	},
	{
		Code: ImpossibleMatch, Class: ClassError, Title: "no request matches",
		Means: "The proxy normalizes or interprets this part of a request, so no request has the compared value.",
		Example: `type: MeshTrafficPermission
name: a
spec:
  rules:
    - default:
        deny: [{path: {type: Exact, value: "/a/../b"}}]
`,
		Mend: "Compare the value that the message names, or another part of the request.",
	},
	{
		Code: EmptyMatch, Class: ClassError, Title: "an entry of permissions has no condition",
		Means: "An entry without a condition would match every client. In a list of permissions this is probably a mistake, so it is not allowed.",
		Example: `type: MeshTrafficPermission
name: a
spec:
  rules: [{default: {allow: [{}]}}]
`,
		Mend: "Give spiffeId, sni, path, method or headers.",
	},
	{
		Code: BadEnvoyResource, Class: ClassError, Title: "the Envoy resource is not valid",
		Means: "The text of a modification is not a message of the API of Envoy, so no proxy would accept it.",
		Example: `type: MeshProxyPatch
name: a
spec:
  default:
    appendModifications:
      - cluster:
          operation: Add
          value: "name: x\nconnectTimeot: 5s\n"
`,
		Mend: "Correct the field that the message names, or its type.",
	},
}
