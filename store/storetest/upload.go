package storetest

import (
	"time"

	"caldav-mcp-server/calendar"
)

func uploadTests() []test {
	return []test{
		{"it is received, checked and imported", uploadIsImported},
		{"a user has one at a time", uploadsAreFew},
		{"it goes with its user", uploadGoesWithUser},
	}
}

func (b *bundle) upload(user calendar.User, id calendar.UploadID) calendar.Upload {
	return calendar.Upload{
		ID: id, User: user.ID, Name: "takeout.zip", Target: "cal", Replace: true, State: calendar.UploadReceiving,
		Report: "{}", Created: b.now(), Changed: b.now(),
	}
}

func uploadIsImported(b *bundle) {
	ann := b.user("ann")
	u := b.upload(ann, "u1")
	b.must(b.InsertUpload(b.Context(), u))
	b.must(b.AddUploadPart(b.Context(), u.ID, 0, []byte("first\x00")))
	b.must(b.AddUploadPart(b.Context(), u.ID, 1, []byte("second")))
	b.refused(b.AddUploadPart(b.Context(), "other", 0, nil), calendar.NotFound, "")
	take := func(holder string) (calendar.Upload, error) {
		return b.TakeUpload(b.Context(), holder, b.now(), b.now().Add(time.Minute))
	}
	_, err := take("p1")
	b.refused(err, calendar.NotFound, "")
	u.State, u.Size = calendar.UploadChecking, 12
	b.must(b.ChangeUpload(b.Context(), u, calendar.UploadReceiving, time.Time{}))
	b.refused(b.ChangeUpload(b.Context(), u, calendar.UploadReceiving, time.Time{}), calendar.NotFound, "")
	taken, err := take("p1")
	b.must(err)
	u.Holder = "p1"
	same(b, "taken", taken, u)
	_, err = take("p2")
	b.refused(err, calendar.NotFound, "")
	b.pass(time.Minute)
	taken, err = take("p2")
	b.must(err)
	same(b, "its holder", taken.Holder, "p2")
	b.refused(b.ChangeUpload(b.Context(), u, calendar.UploadChecking, b.now()), calendar.NotFound, "")
	part, err := b.UploadPart(b.Context(), u.ID, 0)
	b.must(err)
	same(b, "its content", string(part), "first\x00")
	taken.State, taken.Report = calendar.UploadImporting, `{"done":1}`
	b.must(b.ChangeUpload(b.Context(), taken, calendar.UploadChecking, b.now().Add(time.Minute)))
	b.refused(b.DeleteUpload(b.Context(), ann.ID, u.ID), calendar.NotFound, "")
	taken.State = calendar.UploadDone
	b.must(b.ChangeUpload(b.Context(), taken, calendar.UploadImporting, time.Time{}))
	taken.Holder = ""
	got, err := b.Upload(b.Context(), ann.ID, u.ID)
	b.must(err)
	same(b, "in the end", got, taken)
	_, err = b.UploadPart(b.Context(), u.ID, 0)
	b.refused(err, calendar.NotFound, "")
	_, err = b.Upload(b.Context(), b.user("bob").ID, u.ID)
	b.refused(err, calendar.NotFound, "")
}

func uploadsAreFew(b *bundle) {
	ann := b.user("ann")
	first, second := b.upload(ann, "u1"), b.upload(ann, "u2")
	b.must(b.InsertUpload(b.Context(), first))
	b.refused(b.InsertUpload(b.Context(), second), calendar.TooLarge, "")
	b.must(b.InsertUpload(b.Context(), b.upload(b.user("bob"), "u3")))
	first.State = calendar.UploadChecking
	b.must(b.ChangeUpload(b.Context(), first, calendar.UploadReceiving, time.Time{}))
	b.refused(b.InsertUpload(b.Context(), second), calendar.TooLarge, "")
	first.State = calendar.UploadChecked
	b.must(b.ChangeUpload(b.Context(), first, calendar.UploadChecking, time.Time{}))
	b.must(b.InsertUpload(b.Context(), second))
	all, err := b.UploadsOf(b.Context(), ann.ID)
	b.must(err)
	same(b, "what is left", all, []calendar.Upload{second})
	b.must(b.DeleteUpload(b.Context(), ann.ID, second.ID))
	b.must(b.InsertUpload(b.Context(), first))
	b.pass(time.Hour) // the upload of first was interrupted
	second.Created = b.now()
	b.must(b.InsertUpload(b.Context(), second))
	b.must(b.PruneUploads(b.Context(), b.now()))
	all, err = b.UploadsOf(b.Context(), ann.ID)
	b.must(err)
	same(b, "after pruning", len(all), 0)
}

func uploadGoesWithUser(b *bundle) {
	ann := b.user("ann")
	u := b.upload(ann, "u1")
	b.must(b.InsertUpload(b.Context(), u))
	b.must(b.AddUploadPart(b.Context(), u.ID, 0, []byte("x")))
	b.must(b.DeleteUser(b.Context(), ann.ID))
	_, err := b.UploadPart(b.Context(), u.ID, 0)
	b.refused(err, calendar.NotFound, "")
}
