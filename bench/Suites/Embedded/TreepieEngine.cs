using Treepie.Sessions;

namespace Treepie.Bench.Suites.Embedded;

/// <summary>Sessions, as a user writes them.</summary>
internal sealed class TreepieEngine(string path) : IEmbeddedEngine
{
    private const int BatchOrders = 1000;

    public Database Database { get; } = Database.Open(path);

    public string Name => "Treepie";

    public void Fill(int from, int count) => FillAsync(from, count).GetAwaiter().GetResult();

    public void Index()
    {
        using DocumentSession session = Database.OpenSession();
        session.Query<BenchOrder>()
            .Where(order => order.Code == "none")
            .OrderBy(order => order.Freight)
            .WaitForNonStaleResults(TimeSpan.FromHours(1))
            .ToListAsync()
            .GetAwaiter()
            .GetResult();
        ByCode(BenchOrder.CodeOf(1));
        Cheapest();
    }

    public BenchOrder Load(int id)
    {
        using DocumentSession session = Database.OpenSession();
        return session.Load<BenchOrder>(id) ?? throw new InvalidOperationException($"There is no order {id}.");
    }

    public BenchOrder ByCode(string code)
    {
        using DocumentSession session = Database.OpenSession();
        return session.Query<BenchOrder>().Where(order => order.Code == code).FirstAsync().GetAwaiter().GetResult();
    }

    public List<BenchOrder> Cheapest()
    {
        using DocumentSession session = Database.OpenSession();
        return session.Query<BenchOrder>().OrderBy(order => order.Freight).Take(20).ToListAsync().GetAwaiter().GetResult();
    }

    public void Change(int id)
    {
        using DocumentSession session = Database.OpenSession();
        BenchOrder order = session.Load<BenchOrder>(id) ?? throw new InvalidOperationException($"There is no order {id}.");
        order.Version++;
        session.SaveChanges();
    }

    public void Dispose() => Database.Dispose();

    private async Task FillAsync(int from, int count)
    {
        await using ObjectInsert insert = Database.BulkInsertObjects(new() { MaxBatchDocuments = BatchOrders });
        for (int id = from; id < from + count; id++)
            await insert.StoreAsync(BenchOrder.Of(id));
        await insert.CompleteAsync();
    }
}
