package store

import (
	"sync"

	"modernc.org/libc"
	codes "modernc.org/sqlite/lib"
)

// spillBytes is how much SQLite keeps in memory of the pages that one statement changes, so that it can be taken back alone, before it
// writes them to a file of their own. Its 64 KB are few for a statement that writes for fifty guests.
const spillBytes = 4 << 20

// setSpill says so to SQLite, for the whole process. It takes settings before the first file is opened, and where it takes none, statements
// are slower and nothing else.
var setSpill = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	arguments := tls.Alloc(8)
	defer tls.Free(8)
	_ = codes.Xsqlite3_config(tls, codes.SQLITE_CONFIG_STMTJRNL_SPILL, libc.VaList(arguments, int32(spillBytes)))
})
