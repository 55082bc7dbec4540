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
	{
		Code: ListenerDrains, Class: ClassDrains, Title: "a listener closes its connections",
		Means: "Envoy replaces the listener. Its connections go on until the drain time is over, 600 s by default, and are then closed. The message contains the kinds of resources that change it.",
		When:  "a pull request that adds a MeshAccessLog, or changes a permission of a TCP inbound.",
		Mend:  "Nothing, if clients connect again. Otherwise give Envoy a longer drain time when it starts.",
	},
}
