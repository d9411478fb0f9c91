using Treepie.Sessions;

namespace Treepie.Computing.Tests.Pages;

#pragma warning disable CA1708 // blocks name a member 'page' beside the type
/// <summary>What docs/howto/sessions.md changes and reads.</summary>
public sealed class SessionsPage : DatabasePage
{
#pragma warning disable CA2211, IDE1006, SA1307, SA1304, CA1051 // as blocks name them
    public static Database database = null!; // set before a block runs
    public static DocumentSession session = null!; // set before a block runs
    public static Page page = null!; // set before a block runs
    public static Stream stream = new MemoryStream([1, 2, 3]);
    public static DateTime day = new(2026, 1, 1, 0, 0, 0, DateTimeKind.Utc);
    public static DateTime from = day;
    public static DateTime to = day.AddDays(1);
    public static DateTime lastWeek = day.AddDays(-7);
#pragma warning restore CA2211, IDE1006, SA1307, SA1304, CA1051

    protected override void Fill(DocumentSession session)
    {
        ArgumentNullException.ThrowIfNull(session);
        session.Store(new Page { Id = "pages/1", Views = 1, Tags = ["old"] });
        session.Store(new Order { Id = "orders/1", City = "Reims", IsPaid = true });
        session.Store(new Sensor { Id = "sensors/1" });
        session.Store(new Sensor { Id = "companies/1" });
        session.CountersFor("orders/1").Increment("likes");
        session.TimeSeriesFor("orders/1", "heat").Append(day, 20);
    }

    protected override void Give(Database database, DocumentSession session)
    {
        ArgumentNullException.ThrowIfNull(session);
        (SessionsPage.database, SessionsPage.session) = (database, session);
        page = session.Load<Page>("pages/1")!; // stored before
        stream.Position = 0;
    }

    public sealed class Page
    {
        public string? Id { get; set; }

        public int Views { get; set; }

        public Author Author { get; set; } = new();

        public List<string> Tags { get; set; } = [];
    }

    public sealed class Author
    {
        public string? Name { get; set; }
    }

    public sealed class Order
    {
        public string? Id { get; set; }

        public string? City { get; set; }

        public string? Company { get; set; }

        public string? EmailKey { get; set; }

        public string? AcceptedAs { get; set; }

        public bool IsPaid { get; set; }
    }

    public sealed class Sensor
    {
        public string? Id { get; set; }
    }

    public sealed class User
    {
        public string? Id { get; set; }
    }
}
