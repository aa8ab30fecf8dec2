package calendar

// Import is an object from a file or another server.
type Import struct {
	// Name is the name to store it under; if empty, the name is derived from the UID.
	Name ObjectName
	Data []byte
}

// Imported is the outcome of an Import.
type Imported string

// The outcomes for one object. Importing the same object again changes nothing.
const (
	ImportedNew      Imported = "created"
	ImportedSame     Imported = "unchanged" // it existed already, byte for byte
	ImportedKept     Imported = "kept"      // a different version existed and was not changed
	ImportedReplaced Imported = "replaced"
)

// ImportResult is the outcome of one Import, or the reason for its refusal.
type ImportResult struct {
	Did Imported
	Err error
}

// ImportOptions are the options of an import.
type ImportOptions struct {
	// Replace overwrites existing objects. It is off by default because users may have changed them here since an
	// earlier import.
	Replace bool
	// Preview only reports what the import would do.
	Preview bool
}
