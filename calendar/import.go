package calendar

// Import is an object that comes from a file or another server.
type Import struct {
	// Name is what it is to be called; empty for one made of the UID.
	Name ObjectName
	Data []byte
}

// Imported is what became of an Import.
type Imported string

// The outcomes for one object. A second import of the same thing changes nothing.
const (
	ImportedNew      Imported = "created"
	ImportedSame     Imported = "unchanged" // it was there already, byte for byte
	ImportedKept     Imported = "kept"      // another version of it was there, which stays
	ImportedReplaced Imported = "replaced"
)

// ImportResult is what became of one Import, or why it was refused.
type ImportResult struct {
	Did Imported
	Err error
}

// ImportOptions say how an import goes.
type ImportOptions struct {
	// Replace says that what comes wins over what is there already. Unasked nothing is overwritten:
	// somebody may have changed it here since it was imported before.
	Replace bool
	// Preview only tells what would be done.
	Preview bool
}
