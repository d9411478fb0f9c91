using System.Text.Json;
using System.Text.Json.Serialization.Metadata;
using Treepie.Bench.Peers;

namespace Treepie.Bench.Embedded;

/// <summary>
/// SQLite with JSON texts, indexes on two expressions, prepared statements, WAL and <c>synchronous=full</c>; objects by
/// System.Text.Json.
/// </summary>
internal sealed class SqliteEngine : IEmbeddedEngine
{
    private const int BatchOrders = 1000;

    private readonly JsonTypeInfo<BenchOrder> _json;
    private readonly Sqlite _connection;
    private readonly Sqlite.Statement _load, _byCode, _cheapest, _update, _begin, _commit;

    /// <param name="folder">Where the database is.</param>
    /// <param name="json">How orders are written.</param>
    public SqliteEngine(string folder, JsonTypeInfo<BenchOrder> json)
    {
        _json = json;
        _connection = new Sqlite(Path.Combine(folder, "orders.sqlite"), isShared: false);
        _connection.Execute("pragma journal_mode=wal");
        _connection.Execute("pragma synchronous=full");
        _connection.Execute("create table if not exists orders(id integer primary key, json text)");
        _load = _connection.Prepare("select json from orders where id = ?");
        _byCode = _connection.Prepare("select json from orders where json_extract(json, '$.Code') = ? limit 1");
        _cheapest = _connection.Prepare("select json from orders order by json_extract(json, '$.Freight') limit 20");
        _update = _connection.Prepare("update orders set json = ? where id = ?");
        _begin = _connection.Prepare("begin");
        _commit = _connection.Prepare("commit");
    }

    public string Name { get; } = $"SQLite {Sqlite.Version}";

    public void Fill(int from, int count)
    {
        using Sqlite.Statement insert = _connection.Prepare("insert into orders(id, json) values (?, ?)");
        for (int id = from; id < from + count; id++)
        {
            if ((id - from) % BatchOrders == 0)
                _connection.Execute("begin");
            insert.Bind(1, id).Bind(2, JsonSerializer.SerializeToUtf8Bytes(BenchOrder.Of(id), _json)).Step();
            insert.Reset();
            if ((id - from) % BatchOrders == BatchOrders - 1 || id == from + count - 1)
                _connection.Execute("commit");
        }
    }

    public void Index()
    {
        _connection.Execute("create index if not exists code on orders(json_extract(json, '$.Code'))");
        _connection.Execute("create index if not exists freight on orders(json_extract(json, '$.Freight'))");
    }

    public BenchOrder Load(int id)
    {
        _load.Bind(1, id);
        return One(_load);
    }

    public BenchOrder ByCode(string code)
    {
        _byCode.Bind(1, code);
        return One(_byCode);
    }

    public List<BenchOrder> Cheapest()
    {
        var found = new List<BenchOrder>(20);
        while (_cheapest.Step())
            found.Add(Read(_cheapest));
        _cheapest.Reset();
        return found;
    }

    public void Change(int id)
    {
        _begin.Step();
        _begin.Reset();
        BenchOrder order = Load(id);
        order.Version++;
        _update.Bind(1, JsonSerializer.SerializeToUtf8Bytes(order, _json)).Bind(2, id).Step();
        _update.Reset();
        _commit.Step();
        _commit.Reset();
    }

    public void Dispose()
    {
        foreach (Sqlite.Statement statement in (Sqlite.Statement[])[_load, _byCode, _cheapest, _update, _begin, _commit])
            statement.Dispose();
        _connection.Dispose();
    }

    private BenchOrder One(Sqlite.Statement statement)
    {
        if (!statement.Step())
            throw new InvalidOperationException("There is no such order.");
        BenchOrder order = Read(statement);
        statement.Reset();
        return order;
    }

    private BenchOrder Read(Sqlite.Statement statement) =>
        JsonSerializer.Deserialize(statement.Text(0), _json) ?? throw new InvalidOperationException("The order is null.");
}
