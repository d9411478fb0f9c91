using System.Diagnostics;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Peers;

/// <summary>Orders in SQLite: their JSON in a table, and groups of them in another.</summary>
internal sealed class SqliteOrders : IDisposable
{
    private const string Grouped =
        "select json_extract(json, '$.City') city, count(*) n, sum(json_extract(json, '$.Freight')) freight from orders group by "
            + "1";

    private readonly Sqlite _database;

    /// <summary>Creates the table of orders.</summary>
    public SqliteOrders(string path, int orders, Func<int, string> freight, Func<int, string> city)
    {
        _database = new Sqlite(path);
        _database.Execute("create table orders(n integer primary key, json text)");
        using Sqlite.Statement insert = _database.Prepare("insert into orders(n, json) values (?, ?)");
        _database.Execute("begin");
        for (int i = 0; i < orders; i++)
            insert.Bind(1, i)
                .Bind(2, $$"""{"City":"{{city(i)}}","Freight":{{freight(i)}},"Company":"companies/{{i % 91}}"}""")
                .Step();
        _database.Execute("commit");
    }

    /// <summary>Makes the table of groups anew.</summary>
    public double BuildSeconds()
    {
        _database.Execute("drop table if exists groups");
        long began = Stopwatch.GetTimestamp();
        _database.Execute($"create table groups as {Grouped}");
        return Stopwatch.GetElapsedTime(began).TotalSeconds;
    }

    /// <summary>How many groups there are.</summary>
    public int Groups()
    {
        using Sqlite.Statement statement = _database.Prepare("select city from groups");
        int count = 0;
        while (statement.Step())
            count++;
        return count;
    }

    /// <summary>Milliseconds to find the ten largest groups of the table of orders.</summary>
    public double LargestMs(int rounds)
    {
        using Sqlite.Statement statement = _database.Prepare($"{Grouped} order by n desc, city limit 10");
        var times = new List<double>();
        for (int round = 0; round < rounds; round++)
        {
            long began = Stopwatch.GetTimestamp();
            while (statement.Step())
            {
                // Read to the end.
            }

            times.Add(Stopwatch.GetElapsedTime(began).TotalMilliseconds);
        }

        return Statistics.Median(times);
    }

    /// <inheritdoc/>
    public void Dispose() => _database.Dispose();
}
