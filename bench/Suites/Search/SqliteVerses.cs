using Treepie.Bench.Peers;

namespace Treepie.Bench.Suites.Search;

/// <summary>The verses in SQLite's FTS5, without the texts themselves; rowids are places from 1.</summary>
internal sealed class SqliteVerses : IDisposable
{
    private readonly Sqlite database;
    private readonly Sqlite.Statement top;
    private readonly Sqlite.Statement count;

    public SqliteVerses(string path)
    {
        database = new Sqlite(path);
        database.Execute("pragma synchronous=off"); // as ours here: what is lost can be built again
        database.Execute("create virtual table verses using fts5(text, content='', tokenize='unicode61 remove_diacritics 0')");
        top = database.Prepare("select rowid from verses where verses match ? order by rank limit 10");
        count = database.Prepare("select count(*) from verses where verses match ?");
    }

    public void Load(Verse[] verses, int batchSize)
    {
        using Sqlite.Statement insert = database.Prepare("insert into verses(rowid, text) values (?, ?)");
        for (int i = 0; i < verses.Length; i++)
        {
            if (i % batchSize == 0)
                database.Execute("begin");
            insert.Bind(1, i + 1).Bind(2, verses[i].Text).Step();
            if ((i + 1) % batchSize == 0 || i + 1 == verses.Length)
                database.Execute("commit");
        }

        database.Execute("insert into verses(verses) values ('optimize')");
        database.Execute("pragma wal_checkpoint(truncate)");
    }

    /// <summary>Asks for the best ten; gives how many came.</summary>
    public int Top(string match)
    {
        top.Bind(1, match);
        int rows = 0;
        while (top.Step())
            rows++;
        return rows;
    }

    /// <summary>Asks for the number of hits.</summary>
    public long Count(string match)
    {
        count.Bind(1, match).Step();
        long found = count.Long(0);
        count.Reset();
        return found;
    }

    public void Dispose()
    {
        top.Dispose();
        count.Dispose();
        database.Dispose();
    }
}
