// Works with a server as Akonadi does, by the library that KDE's programs share (KDAV 5), and says of each step whether it went
// as it must. Called as: client URL USER PASSWORD.
#include <KDAV/DavCollectionModifyJob>
#include <KDAV/DavCollectionsFetchJob>
#include <KDAV/DavItemCreateJob>
#include <KDAV/DavItemDeleteJob>
#include <KDAV/DavItemFetchJob>
#include <KDAV/DavItemModifyJob>
#include <KDAV/DavItemsFetchJob>
#include <KDAV/DavItemsListJob>
#include <KDAV/EtagCache>
#include <QColor>
#include <QCoreApplication>
#include <QTextStream>
#include <QUrl>
#include <functional>
#include <memory>

using namespace KDAV;

namespace {

QString str(const char *text) { return QString::fromUtf8(text); }

const int events = 30;
// What Akonadi calls the kinds of items.
const QString event = str("application/x-vnd.akonadi.calendar.event");
const QString todo = str("application/x-vnd.akonadi.calendar.todo");

// Judge counts what went well.
class Judge {
public:
    void check(const QString &what, bool good, const QString &got = QString()) {
        (good ? m_passed : m_failed)++;
        m_out << (good ? "  ok    " : "  FAIL  ") << what << (good || got.isEmpty() ? QString() : str(": ") + got) << Qt::endl;
    }
    int verdict() {
        m_out << "kde: " << m_passed << " passed, " << m_failed << " failed, 0 skipped" << Qt::endl;
        return m_failed > 0;
    }

private:
    QTextStream m_out{stdout};
    int m_passed = 0;
    int m_failed = 0;
};

// Account makes addresses with the credentials in them, which is how the library wants them.
class Account {
public:
    Account(const char *url, const char *user, const char *password) : m_url(str(url)) {
        m_url.setUserName(str(user));
        m_url.setPassword(str(password));
    }
    DavUrl at(const QString &path) const {
        QUrl url(m_url);
        url.setPath(path);
        return DavUrl(url, CalDav);
    }

private:
    QUrl m_url;
};

// run waits for a job, and keeps it for what it has found.
template<class Job> std::unique_ptr<Job> run(Job *job) {
    job->setAutoDelete(false);
    job->exec();
    return std::unique_ptr<Job>(job);
}

QByteArray text(const QByteArray &kind, const QString &uid, const QString &summary, const QByteArray &lines) {
    return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//caldav-mcp-server//compat//EN\r\nBEGIN:" + kind + "\r\nUID:" + uid.toUtf8() +
        "\r\nDTSTAMP:20260101T000000Z\r\n" + lines + "SUMMARY:" + summary.toUtf8() + "\r\nEND:" + kind + "\r\nEND:VCALENDAR\r\n";
}

QByteArray eventText(const QString &uid, const QString &summary, const QByteArray &day = "20261201") {
    return text("VEVENT", uid, summary, "DTSTART:" + day + "T090000Z\r\nDURATION:PT1H\r\n");
}

// Replica is what one of KDE's machines knows of a calendar.
class Replica {
public:
    Replica(const Account &account, const QString &path, const QString &kind = event) : m_account(account), m_path(path), m_kind(kind) {}

    // sync lists the calendar and fetches what is new to it, as Akonadi does.
    void sync(const QString &from = QString()) {
        auto list = new DavItemsListJob(m_account.at(m_path), m_etags);
        list->setContentMimeTypes({m_kind});
        if (!from.isEmpty()) list->setTimeRange(from, QString());
        auto listed = run(list);
        error = listed->errorString();
        changed.clear();
        for (const auto &item : listed->changedItems()) changed << item.url().toDisplayString();
        gone = listed->deletedItems();
        for (const auto &address : gone) m_etags->removeEtag(address);
        if (changed.isEmpty()) return;
        auto fetched = run(new DavItemsFetchJob(m_account.at(m_path), changed));
        for (const auto &item : fetched->items()) {
            m_etags->setEtag(item.url().toDisplayString(), item.etag());
            items[item.url().toDisplayString()] = item;
        }
    }
    DavItem named(const QString &name) const {
        for (const auto &item : items) {
            if (item.url().url().path() == m_path + name) return item;
        }
        return DavItem();
    }
    std::unique_ptr<DavItemCreateJob> create(const QString &name, const QByteArray &data) {
        return run(new DavItemCreateJob(DavItem(m_account.at(m_path + name), str("text/calendar"), data, QString())));
    }

    QStringList changed, gone; // addresses, after the last sync
    QMap<QString, DavItem> items;
    QString error;

private:
    Account m_account;
    QString m_path, m_kind;
    std::shared_ptr<EtagCache> m_etags = std::make_shared<EtagCache>();
};

std::unique_ptr<DavItemModifyJob> modify(DavItem item, const QByteArray &data) {
    item.setData(data);
    return run(new DavItemModifyJob(item));
}

DavCollection::List collections(const Account &account, const QString &path) {
    return run(new DavCollectionsFetchJob(account.at(path)))->collections();
}

// find returns the calendar of a kind.
DavCollection find(const DavCollection::List &list, DavCollection::ContentType kind) {
    for (const auto &c : list) {
        if (c.contentTypes() == kind) return c;
    }
    return DavCollection();
}

void discovery(Judge &judge, const Account &account) {
    for (const auto &path : {str("/"), str("/.well-known/caldav")}) {
        const auto list = collections(account, path);
        const auto calendar = find(list, DavCollection::Events), tasks = find(list, DavCollection::Todos);
        judge.check(path + str(" leads to a calendar and a task list"),
                    !calendar.displayName().isEmpty() && !tasks.displayName().isEmpty(), QString::number(list.size()));
        judge.check(str("which can be written to, and have a ctag"), (calendar.privileges() & Write) && !calendar.CTag().isEmpty());
    }
}

void exchange(Judge &judge, Replica &here, Replica &there) {
    for (int i = 0; i < events; i++) here.create(str("e%1.ics").arg(i), eventText(str("e%1").arg(i), str("Grüße 日本 🗓")));
    there.sync();
    judge.check(str("events made here are there"), there.items.size() == events, QString::number(there.items.size()) + there.error);
    judge.check(str("with every letter"), there.named(str("e7.ics")).data().contains("Grüße 日本 🗓"));
    here.sync();
    here.sync();
    judge.check(str("an idle sync fetches nothing"), here.changed.isEmpty() && here.gone.isEmpty(), here.changed.join(u' '));
    const auto odd = here.create(str("Größe 50% & mehr.ics"), eventText(str("odd"), str("Odd")));
    there.sync();
    judge.check(str("so is one with an odd name"),
                !odd->error() && there.named(str("Größe 50% & mehr.ics")).data().contains("Odd"), odd->errorString());
    judge.check(str("a name that is taken is refused"), here.create(str("e1.ics"), eventText(str("e1"), str("Again")))->error());
}

void conflict(Judge &judge, Replica &here, Replica &there) {
    here.sync();
    const auto name = str("e3.ics");
    const auto stale = there.named(name);
    const auto first = modify(here.named(name), eventText(str("e3"), str("First")));
    judge.check(str("an edit is taken"), !first->error() && first->item().etag() != stale.etag(), first->errorString());
    const auto second = modify(stale, eventText(str("e3"), str("Second")));
    judge.check(str("one of an older version is a conflict, which shows the newer one"),
                second->hasConflict() && second->freshItem().data().contains("First") &&
                    second->freshItem().etag() == first->item().etag());
    const auto removal = run(new DavItemDeleteJob(stale));
    judge.check(str("and so is its removal"), removal->hasConflict() && removal->freshItem().etag() == first->item().etag());
    there.sync();
    judge.check(str("an edit made here is there, and nothing else"),
                there.changed.size() == 1 && there.named(name).data().contains("First"), there.changed.join(u' '));
    judge.check(str("after which it can be removed"), !run(new DavItemDeleteJob(there.named(name)))->error());
    here.sync();
    judge.check(str("a removal made there is here, and nothing else"),
                here.gone.size() == 1 && here.changed.isEmpty(), here.gone.join(u' '));
}

void spans(Judge &judge, const Account &account, const QString &path) {
    Replica lately(account, path), tasks(account, path, todo);
    lately.create(str("old.ics"), eventText(str("old"), str("Old"), "20200101"));
    lately.sync(str("20260101T000000Z"));
    judge.check(str("a span without an end leaves the past out"),
                lately.items.size() == events && lately.named(str("old.ics")).data().isEmpty(), QString::number(lately.items.size()));
    tasks.sync();
    judge.check(str("a calendar of events has no tasks"), tasks.items.isEmpty() && tasks.error.isEmpty(), tasks.error);
}

void tasks(Judge &judge, const Account &account, const QString &path) {
    Replica here(account, path, todo), there(account, path, todo);
    here.create(str("task.ics"), text("VTODO", str("task"), str("Task"), "DUE:20261201T180000Z\r\n"));
    there.sync();
    judge.check(str("a task made here is there"), there.named(str("task.ics")).data().contains("SUMMARY:Task"));
}

void properties(Judge &judge, const Account &account, const QString &path) {
    auto job = new DavCollectionModifyJob(account.at(path));
    job->setProperty(str("displayname"), str("Heim & Hof"));
    job->setProperty(str("calendar-color"), str("#ff8800"), str("http://apple.com/ns/ical/"));
    const auto done = run(job);
    const auto now = find(collections(account, str("/")), DavCollection::Events);
    judge.check(str("name and color can be set"),
                !done->error() && now.displayName() == str("Heim & Hof") && now.color() == QColor(str("#ff8800")),
                done->errorString() + now.displayName() + now.color().name());
}

} // namespace

int main(int argc, char **argv) {
    QCoreApplication app(argc, argv);
    if (argc != 4) return 2;
    const Account account(argv[1], argv[2], argv[3]);
    Judge judge;
    discovery(judge, account);
    const auto list = collections(account, str("/"));
    const auto calendar = find(list, DavCollection::Events).url().url().path();
    const auto taskList = find(list, DavCollection::Todos).url().url().path();
    Replica here(account, calendar), there(account, calendar);
    exchange(judge, here, there);
    conflict(judge, here, there);
    spans(judge, account, calendar);
    tasks(judge, account, taskList);
    properties(judge, account, calendar);
    return judge.verdict();
}
