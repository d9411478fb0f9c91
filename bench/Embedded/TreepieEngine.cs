using Treepie.Sessions;

namespace Treepie.Bench.Embedded;

/// <summary>Sessions, as a user writes them.</summary>
/// <param name="folder">Where the database is.</param>
/// <param name="open">Opens a session, by reflection or with a source-generated context.</param>
/// <param name="bulk">Begins a bulk insert, in the same way.</param>
internal sealed class TreepieEngine(
    string folder, Func<Database, DocumentSession> open, Func<Database, ObjectInsert> bulk) : IEmbeddedEngine
{
    public Database Database { get; } = Database.Open(Path.Combine(folder, "treepie"));

    public string Name => "Treepie";

    public void Fill(int from, int count) => FillAsync(from, count).GetAwaiter().GetResult();

    public void Index()
    {
        using DocumentSession session = open(Database);
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
        using DocumentSession session = open(Database);
        return session.Load<BenchOrder>(id) ?? throw new InvalidOperationException($"There is no order {id}.");
    }

    public BenchOrder ByCode(string code)
    {
        using DocumentSession session = open(Database);
        return session.Query<BenchOrder>().Where(order => order.Code == code).FirstAsync().GetAwaiter().GetResult();
    }

    public List<BenchOrder> Cheapest()
    {
        using DocumentSession session = open(Database);
        return session.Query<BenchOrder>().OrderBy(order => order.Freight).Take(20).ToListAsync().GetAwaiter().GetResult();
    }

    public void Change(int id)
    {
        using DocumentSession session = open(Database);
        BenchOrder order = session.Load<BenchOrder>(id) ?? throw new InvalidOperationException($"There is no order {id}.");
        order.Version++;
        session.SaveChanges();
    }

    public void Dispose() => Database.Dispose();

    private async Task FillAsync(int from, int count)
    {
        await using ObjectInsert insert = bulk(Database);
        for (int id = from; id < from + count; id++)
            await insert.StoreAsync(BenchOrder.Of(id));
        await insert.CompleteAsync();
    }
}
