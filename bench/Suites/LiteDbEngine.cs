using LiteDB;
using Treepie.Bench.Embedded;

namespace Treepie.Bench.Suites;

/// <summary>LiteDB with its mapper and two indexes.</summary>
internal sealed class LiteDbEngine : IEmbeddedEngine
{
    private const int BatchOrders = 1000;

    private readonly LiteDatabase _database;
    private readonly ILiteCollection<BenchOrder> _orders;

    public LiteDbEngine(string path)
    {
        _database = new LiteDatabase(path);
        _orders = _database.GetCollection<BenchOrder>("orders");
    }

    public string Name => "LiteDB 5.0.20";

    public void Fill(int from, int count)
    {
        for (int at = from; at < from + count; at += BatchOrders)
            _orders.InsertBulk(
                Enumerable.Range(at, Math.Min(BatchOrders, from + count - at)).Select(BenchOrder.Of), BatchOrders);
    }

    public void Index()
    {
        _orders.EnsureIndex(order => order.Code);
        _orders.EnsureIndex(order => order.Freight);
    }

    public BenchOrder Load(int id) => _orders.FindById(id);

    public BenchOrder ByCode(string code) => _orders.FindOne(order => order.Code == code);

    public List<BenchOrder> Cheapest() => _orders.Query().OrderBy(order => order.Freight).Limit(20).ToList();

    public void Change(int id)
    {
        BenchOrder order = _orders.FindById(id);
        order.Version++;
        _orders.Update(order);
    }

    public void Dispose() => _database.Dispose();
}
