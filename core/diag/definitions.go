package diag

import "slices"

// definitions contains the definitions of all codes, in the order of the codes.
var definitions = slices.Concat(
	definitionsOfInput,
	definitionsOfField,
	definitionsOfResource,
	definitionsOfWarning,
	definitionsOfNoEffect,
	definitionsOfRedundant,
	definitionsOfConflict,
	definitionsOfMigration,
	definitionsOfLimit,
	definitionsOfEdit,
)
