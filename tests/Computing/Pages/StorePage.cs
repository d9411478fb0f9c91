using Treepie.Sessions;

namespace Treepie.Computing.Tests.Pages;

/// <summary>What docs/howto/many-documents.md changes and follows.</summary>
public sealed class StorePage : DatabasePage
{
    private static CancellationTokenSource _seen = new();
    private static long _last;

#pragma warning disable CA2211, IDE1006, SA1307, SA1300, SA1304, CA1051 // as blocks name them
    public static IDocumentStore store = null!; // set before a block runs
    public static string city = "Reims";
    public static List<Order> orders = [new() { City = "Rouen" }, new() { City = "Lyon" }];
    public static CancellationToken cancellationToken = _seen.Token;

    /// <summary>The etag that a feed has come to; who has seen one change has seen enough.</summary>
    public static long last
    {
        get => _last;
        set
        {
            _last = value;
            _seen.Cancel();
        }
    }
#pragma warning restore CA2211, IDE1006, SA1307, SA1300, SA1304, CA1051

    protected override void Fill(DocumentSession session)
    {
        ArgumentNullException.ThrowIfNull(session);
        session.Store(new Order { City = "Reims", Freight = 20 });
        session.Store(new Order { City = "Lyon", Freight = 0.5 });
        session.Store(new Account { Id = "accounts/1", Balance = 100 });
        session.Store(new Account { Id = "accounts/2" });
    }

    protected override void Give(Database database, DocumentSession session)
    {
        (store, _last) = (database, 0);
        cancellationToken = (_seen = new CancellationTokenSource()).Token;
    }

    public sealed class Order
    {
        public string? Id { get; set; }

        public string? City { get; set; }

        public double Freight { get; set; }

        public int Moves { get; set; }
    }

    public sealed class Account
    {
        public string? Id { get; set; }

        public decimal Balance { get; set; }
    }
}
