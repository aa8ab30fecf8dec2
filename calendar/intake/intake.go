package intake

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"caldav-mcp-server/calendar"
	"caldav-mcp-server/calendar/service"
)

const (
	// MaxFile limits an uploaded file.
	MaxFile = 100_000_000
	// keptFor is how long an upload is kept after its last change.
	keptFor = 48 * time.Hour
	// lookEvery is how often a process looks for work that another one left.
	lookEvery = 20 * time.Second
	// heldFor is how long a process may be silent before another one continues; it is renewed every renewEvery.
	heldFor, renewEvery = 60 * time.Second, 15 * time.Second
	// startsMost is how often one step is begun: a file that ends the process must not do so for ever.
	startsMost = 10
)

// Store is the part of the store that an Intake needs.
type Store interface {
	calendar.Uploads
	UserByID(ctx context.Context, id calendar.UserID) (calendar.User, error)
}

// Config holds the dependencies of an Intake.
type Config struct {
	Store   Store
	Service *service.Service
	Now     func() time.Time
	NewID   func() string
	Logger  *slog.Logger
}

// Intake receives files and imports them in the background.
type Intake struct {
	Config
	holder string
	// work has an entry if there may be work for this process.
	work chan struct{}
}

// New makes an Intake.
func New(c Config) *Intake {
	return &Intake{Config: c, holder: c.NewID(), work: make(chan struct{}, 1)}
}

// Receive stores a file, which is then checked. target is the calendar that gets everything; "" for the calendars that
// the file names.
func (i *Intake) Receive(ctx context.Context, c calendar.Caller, u calendar.Upload, from io.Reader) (
	calendar.Upload, error,
) {
	if u.Target != "" {
		cal, err := i.Service.Calendar(ctx, c, u.Target)
		if err == nil {
			err = c.May(calendar.WriteObjects, cal)
		}
		if err != nil {
			return u, err
		}
	}
	now := i.Now()
	u.ID, u.User, u.State, u.Report = calendar.UploadID(i.NewID()), c.User.ID, calendar.UploadReceiving, "{}"
	u.Name, u.Created, u.Changed = shortened(u.Name), now, now
	if err := i.Store.InsertUpload(ctx, u); err != nil {
		return u, err
	}
	err := i.receive(ctx, &u, from)
	if err == nil && u.Size == 0 {
		err = calendar.Errorf(calendar.Invalid, "", "choose a file that is not empty")
	}
	if err == nil {
		u.State, u.Changed = calendar.UploadChecking, i.Now()
		err = i.Store.ChangeUpload(ctx, u, calendar.UploadReceiving, time.Time{})
	}
	if err != nil {
		return u, errors.Join(err, i.Store.DeleteUpload(context.WithoutCancel(ctx), u.User, u.ID))
	}
	i.wake()
	return u, nil
}

// receive stores the content in parts.
func (i *Intake) receive(ctx context.Context, u *calendar.Upload, from io.Reader) error {
	part := make([]byte, calendar.UploadPartBytes)
	for number := int64(0); ; number++ {
		n, err := io.ReadFull(from, part)
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return err
		}
		if n == 0 {
			return nil
		}
		if u.Size += int64(n); u.Size > MaxFile {
			return calendar.Errorf(calendar.TooLarge, "", "the file has more than %s", calendar.SizeText(MaxFile))
		}
		packed, failed := pack(part[:n])
		if failed == nil {
			failed = i.Store.AddUploadPart(ctx, u.ID, number, packed)
		}
		if failed != nil {
			return failed
		}
		if last {
			return nil
		}
	}
}

func pack(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err == nil {
		_, err = w.Write(data)
	}
	if err == nil {
		err = w.Close()
	}
	return b.Bytes(), err
}

// Upload returns a user's upload with its report.
func (i *Intake) Upload(ctx context.Context, c calendar.Caller, id calendar.UploadID) (
	calendar.Upload, Report, error,
) {
	u, err := i.Store.Upload(ctx, c.User.ID, id)
	if err != nil {
		return u, Report{}, err
	}
	r, err := ReadReport(u)
	return u, r, err
}

// Uploads lists a user's uploads, the latest first.
func (i *Intake) Uploads(ctx context.Context, c calendar.Caller) ([]calendar.Upload, error) {
	return i.Store.UploadsOf(ctx, c.User.ID)
}

// Start begins the import of a checked file.
func (i *Intake) Start(ctx context.Context, c calendar.Caller, id calendar.UploadID) error {
	u, r, err := i.Upload(ctx, c, id)
	if err != nil {
		return err
	}
	if u.State != calendar.UploadChecked {
		return nil // it was started already
	}
	next := Report{Total: r.Done}
	u.State, u.Report, u.Changed = calendar.UploadImporting, next.text(), i.Now()
	if err := i.Store.ChangeUpload(ctx, u, calendar.UploadChecked, time.Time{}); err != nil {
		return err
	}
	i.wake()
	return nil
}

// Discard deletes an upload that is not being imported.
func (i *Intake) Discard(ctx context.Context, c calendar.Caller, id calendar.UploadID) error {
	return i.Store.DeleteUpload(ctx, c.User.ID, id)
}

func (i *Intake) wake() {
	select {
	case i.work <- struct{}{}:
	default:
	}
}

// Run checks and imports files, one at a time, until the context ends. Then another process continues, or the same one
// after its restart.
func (i *Intake) Run(ctx context.Context) {
	for pruned := (time.Time{}); ; {
		for i.next(ctx) {
		}
		if now := i.Now(); now.Sub(pruned) > time.Hour {
			pruned = now
			if err := i.Store.PruneUploads(ctx, now.Add(-keptFor)); err != nil && ctx.Err() == nil {
				i.Logger.WarnContext(ctx, "old uploads could not be deleted", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-i.work:
		case <-time.After(calendar.UntilNext(i.Now(), lookEvery)):
		}
	}
}

// next works on the next file. It reports whether there was one.
func (i *Intake) next(ctx context.Context) bool {
	now := i.Now()
	u, err := i.Store.TakeUpload(ctx, i.holder, now, now.Add(heldFor))
	if err != nil {
		if calendar.ReasonOf(err) != calendar.NotFound && ctx.Err() == nil {
			i.Logger.WarnContext(ctx, "uploads could not be read", "error", err)
		}
		return false
	}
	job := &job{Intake: i, upload: u}
	job.work(ctx)
	return true
}

// job is one step of an upload that this process has taken: its check, or its import.
type job struct {
	*Intake
	report Report
	// mu guards upload, which is stored with progress and to renew the hold.
	mu     sync.Mutex
	upload calendar.Upload
}

func (j *job) work(ctx context.Context) {
	err := j.begin(ctx)
	if err == nil {
		renewing, stop := context.WithCancel(ctx)
		var renewal sync.WaitGroup
		renewal.Go(func() { j.renew(renewing) })
		err = j.run(ctx)
		stop()
		renewal.Wait()
	}
	j.end(context.WithoutCancel(ctx), err, ctx.Err() != nil)
}

// begin reads the report and counts the start.
func (j *job) begin(ctx context.Context) error {
	var err error
	if j.report, err = ReadReport(j.upload); err != nil {
		return err
	}
	if j.upload.State == calendar.UploadChecking {
		j.report = Report{Starts: j.report.Starts} // a check starts again
	}
	if j.report.Starts++; j.report.Starts > startsMost {
		return calendar.Errorf(calendar.Invalid, "", "the server was stopped %d times during this step", startsMost)
	}
	return j.save(ctx)
}

// run checks or imports the file.
func (j *job) run(ctx context.Context) error {
	user, err := j.Store.UserByID(ctx, j.upload.User)
	if err != nil {
		return err
	}
	if user.Disabled {
		return calendar.Errorf(calendar.Forbidden, "", "the account is disabled")
	}
	c := calendar.Caller{User: user, Scopes: calendar.ScopeAll, Agent: "web", ForOthers: true}
	into := j.Service.NewImporter(c, calendar.ImportOptions{
		Replace: j.upload.Replace, Preview: j.upload.State == calendar.UploadChecking,
	})
	if j.report.Change != "" {
		first, err := calendar.ParseChangeID(j.report.Change)
		if err != nil {
			return err
		}
		into.Continue(first)
	}
	r := &run{
		into: into, target: j.upload.Target, name: j.upload.Name, report: &j.report, save: j.save,
		cals: map[calendar.CalendarID]calendar.Calendar{},
		calendar: func(ctx context.Context, id calendar.CalendarID) (calendar.Calendar, error) {
			return j.Service.Calendar(ctx, c, id)
		},
	}
	err = r.do(ctx, &content{ctx: ctx, Intake: j.Intake, upload: j.upload}, j.upload.Size)
	if change, ok := into.Change(); ok {
		j.report.Change = change.String()
	}
	return err
}

// save stores the progress. NotFound means that another process has taken over.
func (j *job) save(ctx context.Context) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := j.Now()
	j.upload.Report, j.upload.Changed = j.report.text(), now
	return j.Store.ChangeUpload(ctx, j.upload, j.upload.State, now.Add(heldFor))
}

// renew holds the upload while a large file is parsed.
func (j *job) renew(ctx context.Context) {
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		j.mu.Lock()
		err := j.Store.ChangeUpload(ctx, j.upload, j.upload.State, j.Now().Add(heldFor))
		j.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			j.Logger.WarnContext(ctx, "the hold on an upload could not be renewed", "error", err)
		}
	}
}

// end stores the outcome. A stopped process and a database that is away leave the step to be continued.
func (j *job) end(ctx context.Context, err error, stopped bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	from, held := j.upload.State, time.Time{}
	switch reason := calendar.ReasonOf(err); {
	case err == nil && from == calendar.UploadChecking:
		j.upload.State = calendar.UploadChecked
		j.conclude()
	case err == nil:
		j.upload.State = calendar.UploadDone
	case stopped:
	case reason == calendar.Unavailable:
		held = j.Now().Add(lookEvery)
	case reason == calendar.Internal:
		j.Logger.ErrorContext(ctx, "an upload could not be imported", "upload", string(j.upload.ID), "error", err)
		j.fail("something went wrong here; it has been written down for the administrator")
	default:
		j.fail(err.Error())
	}
	if err == nil || !stopped && reasonEnds(err) {
		j.upload.Report = j.report.text()
	}
	j.upload.Changed = j.Now()
	if err := j.Store.ChangeUpload(ctx, j.upload, from, held); err != nil {
		j.Logger.WarnContext(ctx, "the result of an import could not be stored", "error", err)
	}
}

// reasonEnds reports whether an error ends the step for good.
func reasonEnds(err error) bool { return calendar.ReasonOf(err) != calendar.Unavailable }

func (j *job) fail(problem string) {
	j.upload.State, j.report.Problem = calendar.UploadFailed, problem
}

// conclude fails a checked file that has nothing to import.
func (j *job) conclude() {
	r := &j.report
	if r.Done == 0 && len(r.Calendars) == 0 {
		j.fail("the file holds nothing that a calendar keeps: is it an iCalendar (.ics) file, or a ZIP file of them?")
	}
}

// content reads the parts of an upload as one file.
type content struct {
	*Intake
	ctx    context.Context //nolint:containedctx // io.ReaderAt has no context
	upload calendar.Upload
	// number is the part in data.
	number int64
	data   []byte
}

// ReadAt implements [io.ReaderAt]. It is not safe for concurrent use.
func (c *content) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && off+int64(n) < c.upload.Size {
		at := off + int64(n)
		if err := c.load(at / calendar.UploadPartBytes); err != nil {
			return n, err
		}
		from := at % calendar.UploadPartBytes
		if from >= int64(len(c.data)) {
			return n, io.ErrUnexpectedEOF
		}
		n += copy(p[n:], c.data[from:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (c *content) load(number int64) error {
	if c.data != nil && c.number == number {
		return nil
	}
	packed, err := c.Store.UploadPart(c.ctx, c.upload.ID, number)
	if err != nil {
		return fmt.Errorf("reading part %d of an upload: %w", number, err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return err
	}
	c.data, err = io.ReadAll(r)
	c.number = number
	return err
}
