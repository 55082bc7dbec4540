package diag

var definitionsOfLimit = []*Definition{
	{
		Code: PastLimit, Class: ClassLimit, Title: "a limit is exceeded",
		Means: "The answer would be larger than a limit, or the configuration larger than a proxy can have. The message names the omitted parts.",
		When:  "`from` items with so many different tags that their combinations exceed the limit of an inbound.",
		Mend:  "Use fewer different selectors, or split the policy.",
	},
	{
		Code: UnknownAccess, Class: ClassLimit, Title: "a question about permissions exceeds a limit",
		Means: "Whether entries of permissions have an effect is unknown, because they divide the requests into more parts than the limit allows.",
		When:  "dozens of regular expressions on the path of one inbound.",
		Mend:  "Use fewer regular expressions on one header or path.",
	},
}
