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
	{
		Code: NothingCompared, Class: ClassWarning, Title: "nothing was compared, because a mesh has no dataplanes",
		Means: "A resource changes, and its mesh has no dataplanes in the new input. So the answer does not show what the change does. A gate that fails if an inbound opens or closes fails.",
		When:  "a diff of two directories with policies alone.",
		Mend:  "Give the dataplanes of the mesh too.",
	},
	{
		Code: SelectsNothingNew, Class: ClassWarning, Title: "nothing was compared, because a changed policy selects no dataplane",
		Means: "The policy selects no dataplane before and after the edit. So the answer does not show what it will do to a workload that comes later.",
		When:  "a pull request with a policy for a workload that does not run yet.",
		Mend:  "Nothing, if the workload comes later. Otherwise check the targetRef.",
	},
}
