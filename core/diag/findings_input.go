package diag

var definitionsOfInput = []*Definition{
	{
		Code: UnreadableFile, Class: ClassError, Title: "a file cannot be read",
		Means: "A given file or directory, or a file in a directory, cannot be opened, is not a regular file, or is a link that leads out of the directory. The program gives no answer, so that no policy is missing without notice.",
		When:  "the input names a file that does not exist.",
		Mend:  "Correct the path or the permissions of the file, or remove the link.",
	},
	{
		Code: InputTooLarge, Class: ClassError, Title: "the input is larger than a limit",
		Means: "A file, or all files together, have more bytes than the limit, or a document has too many values or is nested too deeply. The limits keep a hostile file from using all memory.",
		When:  "a document that is nested deeper than 100 levels.",
		Mend:  "Split the file or the document.",
	},
	{
		Code: BadSyntax, Class: ClassError, Title: "the text is not YAML and not JSON",
		Means: "The parser cannot read the text at this position. The other documents are still checked.",
		Example: `type: MeshTimeout
name: "a
`,
		Mend: "Check indentation, quotes, commas and brackets at the position.",
	},
	{
		Code: InternalFault, Class: ClassError, Title: "a document made the program fail",
		Means: "The code that reads documents of this kind has a bug, and this document shows it. It is an error of this document, so that other documents are still checked.",
		When:  "the Validate method of a kind panics.",
		Mend:  "Report it with the document.",
	},
	{
		Code: UnsupportedYAML, Class: ClassError, Title: "an unsupported part of YAML",
		Means: "Merge keys, tags that change a type, and anchors that contain themselves are not read, because readers of YAML disagree about them.",
		Example: `type: MeshTimeout
name: a
spec:
  to:
    - default: {<<: {idleTimeout: 1h}}
`,
		Mend: "Write the fields out.",
	},
	{
		Code: RepeatedFile, Class: ClassError, Title: "a file is given twice",
		Means: "Two paths lead to the same file. Each of its resources would be in the input twice.",
		When:  "the input is the directory policies/ and the file policies/web.yaml.",
		Mend:  "Give the file once.",
	},
	{
		Code: UnrenderedInput, Class: ClassError, Title: "the input of another program",
		Means: "The directory is a Helm chart, or a kustomization with patches. Its files are templates, values or patches, and no resources.",
		Example: `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources: [policies.yaml]
patches: [{path: patch.yaml}]
`,
		Mend: "Give the output of the program in the place of the directory.",
	},
}
