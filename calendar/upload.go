package calendar

import (
	"context"
	"time"
)

// UploadID identifies an uploaded file.
type UploadID string

// UploadState is the state of an uploaded file.
type UploadState string

// The states. A file is received, then checked; its user then starts the import or discards the file. In the states
// Checking and Importing a process works on it, or will soon.
const (
	UploadReceiving UploadState = "receiving"
	UploadChecking  UploadState = "checking"
	UploadChecked   UploadState = "checked"
	UploadImporting UploadState = "importing"
	UploadDone      UploadState = "done"
	UploadFailed    UploadState = "failed"
)

// Upload is a file that a user uploaded to import it.
type Upload struct {
	ID   UploadID
	User UserID
	// Name is the file's name, Size its size in bytes.
	Name string
	Size int64
	// Target is the calendar that gets everything; "" for the calendars that the file names.
	Target  CalendarID
	Replace bool
	State   UploadState
	// Report is what package intake found and did, as JSON.
	Report           string
	Created, Changed time.Time
	// Holder is the process that works on it.
	Holder string
}

// UploadPartBytes is the size of the stored parts of a file; the last one is smaller.
const UploadPartBytes = 1 << 20

// Uploads is the part of a Store that keeps uploaded files until they are imported.
type Uploads interface {
	// InsertUpload adds a file, and deletes the user's other idle files. TooLarge if the user has
	// one that is being checked or imported.
	InsertUpload(ctx context.Context, u Upload) error
	// AddUploadPart stores a part of the content, as the caller compressed it.
	AddUploadPart(ctx context.Context, id UploadID, number int64, data []byte) error
	// UploadPart returns a part of the content, or NotFound.
	UploadPart(ctx context.Context, id UploadID, number int64) ([]byte, error)
	// Upload returns a user's file, or NotFound.
	Upload(ctx context.Context, user UserID, id UploadID) (Upload, error)
	// UploadsOf lists a user's files, the latest first.
	UploadsOf(ctx context.Context, user UserID) ([]Upload, error)
	// ChangeUpload stores State, Report, Size and Changed if the file is in a state and has the Holder of u; otherwise
	// NotFound. The holder keeps the file until a time; the zero time releases it. The content is deleted with the
	// states Done and Failed.
	ChangeUpload(ctx context.Context, u Upload, from UploadState, held time.Time) error
	// TakeUpload reserves the oldest file to be checked or imported that no process holds; NotFound if there is none.
	TakeUpload(ctx context.Context, holder string, now, until time.Time) (Upload, error)
	// DeleteUpload deletes a user's file, unless it is being imported: then NotFound.
	DeleteUpload(ctx context.Context, user UserID, id UploadID) error
	// PruneUploads deletes files that changed last before a time.
	PruneUploads(ctx context.Context, before time.Time) error
}
