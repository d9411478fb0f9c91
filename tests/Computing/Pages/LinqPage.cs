using Treepie.Sessions;

namespace Treepie.Computing.Tests.Pages;

/// <summary>What docs/howto/linq.md asks about.</summary>
public sealed class LinqPage : DatabasePage
{
#pragma warning disable CA2211, IDE1006, SA1307, CA1051 // as blocks name them
    public static DocumentSession session = null!; // set before a block runs
#pragma warning restore CA2211, IDE1006, SA1307, CA1051

    protected override void Fill(DocumentSession session)
    {
        ArgumentNullException.ThrowIfNull(session);
        session.Store(new Order
        {
            Company = "companies/1",
            Freight = 20,
            Notes = "fragile glass",
            ShipTo = new Place { City = "Reims", Lat = 49.25, Lng = 4.03 },
            Lines = [new Line { Product = "products/1", Amount = 11, Price = 30 }],
        });
    }

    protected override void Give(Database database, DocumentSession session) => LinqPage.session = session;

    public sealed class Order
    {
        public string? Id { get; set; }

        public string? Company { get; set; }

        public string? Notes { get; set; }

        public double Freight { get; set; }

        public DateTime OrderedAt { get; set; }

        public Place ShipTo { get; set; } = new();

        public List<Line> Lines { get; set; } = [];
    }

    public sealed class Place
    {
        public string? City { get; set; }

        public double Lat { get; set; }

        public double Lng { get; set; }
    }

    public sealed class Line
    {
        public string? Product { get; set; }

        public int Amount { get; set; }

        public double Price { get; set; }
    }
}
