package diag

var definitionsOfEdit = []*Definition{
	{
		Code: AccessOpens, Class: ClassOpens, Title: "an inbound allows more",
		Means: "The inbound allows requests that it denied before the edit. The message contains the requests.",
		When:  "a pull request that adds an entry to the allow list of a MeshTrafficPermission.",
		Mend:  "Nothing, if this is intended. Otherwise make the entry narrower.",
	},
	{
		Code: AccessCloses, Class: ClassCloses, Title: "an inbound denies more",
		Means: "The inbound denies requests that it allowed before the edit. The message contains the requests.",
		When:  "a pull request that removes an entry from the allow list of a MeshTrafficPermission.",
		Mend:  "Nothing, if this is intended. Otherwise keep an entry that allows the requests.",
	},
}
