package calendar

// Import is an object that comes from a file or another server.
type Import struct {
	// Name is what it is to be called; empty for one made of the UID.
	Name ObjectName
	Data []byte
	// Replace says that it wins over an object that is there already.
	Replace bool
}

// Imported is what became of an Import.
type Imported string

// What can become of one. A second import of the same thing changes nothing.
const (
	ImportedNew      Imported = "created"
	ImportedSame     Imported = "unchanged" // it was there already, byte for byte
	ImportedKept     Imported = "kept"      // another version of it was there, which stays
	ImportedReplaced Imported = "replaced"
)
