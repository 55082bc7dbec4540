package diag

// The codes of errors about files and their text.
const (
	UnreadableFile  Code = 1
	InputTooLarge   Code = 2
	BadSyntax       Code = 3
	InternalFault   Code = 4
	UnsupportedYAML Code = 5
	RepeatedFile    Code = 6
	UnrenderedInput Code = 7
)

// The codes of errors about the fields of a document.
const (
	UnknownKind      Code = 101
	UnknownField     Code = 102
	MissingField     Code = 103
	DuplicateEntry   Code = 104
	WrongType        Code = 105
	FieldNotAllowed  Code = 106
	BothPresent      Code = 107
	EmptyValue       Code = 108
	UnknownValue     Code = 109
	OutOfRange       Code = 110
	BadValue         Code = 111
	BadRegex         Code = 112
	BadSPIFFEID      Code = 113
	BadTag           Code = 114
	BadCertificate   Code = 115
	BadPath          Code = 116
	ImpossibleMatch  Code = 117
	EmptyMatch       Code = 118
	BadEnvoyResource Code = 119
)

// The codes of errors about a resource, and about resources together.
const (
	DuplicateResource     Code = 201
	ArrayNotAllowed       Code = 202
	TargetNotAllowed      Code = 203
	WrongMesh             Code = 204
	NoItems               Code = 205
	TooManyItems          Code = 206
	MatchNotAllowed       Code = 207
	BadConstraint         Code = 208
	AmbiguousVariants     Code = 209
	BadResource           Code = 210
	BadDeletion           Code = 211
	WeakensPermissions    Code = 212
	ServerFirstWithoutTLS Code = 213
	MisplacedObject       Code = 220
)

// The codes of warnings about likely mistakes.
const (
	ClosedInbound       Code = 1001
	OpenInbound         Code = 1002
	NoSPIFFEID          Code = 1003
	NotServedOverTLS    Code = 1004
	EvadableEntry       Code = 1005
	BroaderOnTCP        Code = 1006
	ForgeableLog        Code = 1007
	ProxyDiffers        Code = 1008
	LikelyMistake       Code = 1009
	MorePages           Code = 1010
	WeakensOnPurpose    Code = 1011
	UnusableListener    Code = 1012
	UncoveredParameters Code = 1013
	UnverifiedCollector Code = 1014
	NoEndpoints         Code = 1015
	NotSPIFFEID         Code = 1016
	BadIgnore           Code = 1017
	UnknownNode         Code = 1018
	NotApplied          Code = 1019
	NotSeenInPlainText  Code = 1020
	FieldNotKnown       Code = 1031
	ScalarOfYAML11      Code = 1032
	EmptyPolicy         Code = 1033
	DerivedIdentity     Code = 1034
	PrefixOfText        Code = 1035
	SharedListener      Code = 1036
)

// The codes of warnings about input without effect.
const (
	SelectsNothing          Code = 2001
	NoDataplanes            Code = 2002
	FieldNotUsed            Code = 2003
	SetsNothing             Code = 2004
	HTTPOnTCP               Code = 2005
	AbsentClient            Code = 2006
	UnresolvedReference     Code = 2007
	MissedPort              Code = 2008
	MissingReference        Code = 2009
	PlacesNothing           Code = 2010
	OverrideNoEffect        Code = 2011
	FromIgnored             Code = 2012
	EmptySection            Code = 2013
	NoEffectWithProtocol    Code = 2014
	NoEffectOnRoute         Code = 2015
	NoEffectHere            Code = 2016
	NoTranslator            Code = 2017
	NeverMatches            Code = 2018
	UnseenEntry             Code = 2019
	PatchNotApplied         Code = 2020
	NotInGRPC               Code = 2021
	IgnoredMetadata         Code = 2022
	UnsatisfiableConstraint Code = 2023
	AbsentDependency        Code = 2024
	UnusedIgnore            Code = 2025
	UnknownIdentity         Code = 2026
	OlderEnvoy              Code = 2027
)

// The codes of warnings about redundant input.
const (
	NeverDecides         Code = 3001
	NeverNeeded          Code = 3002
	EqualsOverridden     Code = 3003
	OverriddenEverywhere Code = 3004
)

// The codes of warnings about parts that contradict each other.
const (
	TrustDomainConflict Code = 4001
	MixedRoles          Code = 4002
	ContradictingValues Code = 4003
	SameName            Code = 4004
	InboundsDiffer      Code = 4005
	PartlyShadowed      Code = 4006
	ExceptedByDeny      Code = 4007
)

// The codes of warnings about other versions of a control plane.
const (
	KindNotRead          Code = 5001
	DefaultPolicyMissing Code = 5002
	FromNotRead          Code = 5003
	OtherSemantics       Code = 5004
	TargetNotInKuma3     Code = 5101
	ReferenceNotInKuma3  Code = 5102
	FromNotInKuma3       Code = 5103
	TagsNotInKuma3       Code = 5104
	FieldNotInKuma3      Code = 5105
	MTLSNotInKuma3       Code = 5106
	KindNotInKuma3       Code = 5107
	ValueNotInKuma3      Code = 5108
	OpensInKuma3         Code = 5109
)

// The codes of warnings about limits.
const (
	PastLimit     Code = 6001
	UnknownAccess Code = 6002
)

// The codes of findings about what an edit changes.
const (
	AccessOpens       Code = 7001
	AccessCloses      Code = 7002
	ListenerDrains    Code = 7003
	NothingCompared   Code = 7004
	SelectsNothingNew Code = 7005
)
