package diag

var definitionsOfLimit = []*Definition{
	{
		Code: PastLimit, Class: ClassLimit, Title: "a limit is passed",
		Means: "The answer would be larger than a limit, or the configuration larger than a proxy can have. The message says what is left out.",
		When:  "`from` items with so many different tags that their combinations pass the limit of an inbound.",
		Mend:  "Use fewer different selectors, or split the policy.",
	},
}
