using System.Globalization;
using System.Text.Json;
using Treepie.Bench.Peers;

namespace Treepie.Bench.Suites.Reading;

/// <summary>
/// SQLite with the same documents: JSON texts in a table, an index over year and title and one over title, statements prepared once.
/// </summary>
internal sealed class ReadPeer : IDisposable
{
    private const int BatchDocuments = 1_000;

    private readonly Sqlite _database;
    private readonly Sqlite.Statement _load;
    private readonly Dictionary<ReadQuestion, Sqlite.Statement> _questions = [];

    public ReadPeer(string path, ReadSet set)
    {
        _database = new Sqlite(path, isShared: false);
        _database.Execute("create table movies(n integer primary key, id text unique, json text)");
        using (Sqlite.Statement insert = _database.Prepare("insert into movies(id, json) values (?, ?)"))
            for (int from = 0; from < set.Count; from += BatchDocuments)
            {
                _database.Execute("begin");
                for (int at = from; at < Math.Min(from + BatchDocuments, set.Count); at++)
                {
                    ReadDocument document = set.At(at);
                    insert.Bind(1, document.Id).Bind(2, document.PlainJson).Step();
                }

                _database.Execute("commit");
            }

        _database.Execute("create index movies_year on movies(json_extract(json, '$.year'), json_extract(json, '$.title'))");
        _database.Execute("create index movies_title on movies(json_extract(json, '$.title'))");
        _load = _database.Prepare("select json from movies where id = ?");
    }

    /// <summary>Bytes of a document.</summary>
    public int Load(string id)
    {
        _load.Bind(1, id).Step();
        int length = _load.Text(0).Length;
        _load.Reset();
        return length;
    }

    /// <summary>Asks, and reads all rows: their number, or the number they are.</summary>
    public long Ask(ReadQuestion question, object[] values)
    {
        if (!_questions.TryGetValue(question, out Sqlite.Statement? statement))
            _questions.Add(question, statement = _database.Prepare(question.FullSql));
        for (int i = 0; i < values.Length; i++)
            _ = values[i] switch
            {
                long number => statement.Bind(i + 1, number),
                string text => statement.Bind(i + 1, text),
                _ => statement.Bind(i + 1, JsonSerializer.SerializeToUtf8Bytes((string[])values[i])),
            };
        long found = 0;
        while (statement.Step())
            found += question.Counts ? long.Parse(statement.Text(0), CultureInfo.InvariantCulture) : statement.Text(0).Length > 0 ? 1 : 0;
        return found;
    }

    public void Dispose()
    {
        foreach (Sqlite.Statement statement in _questions.Values)
            statement.Dispose();
        _load.Dispose();
        _database.Dispose();
    }
}
