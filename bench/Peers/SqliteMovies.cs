using Treepie.Bench.Measuring;

namespace Treepie.Bench.Peers;

/// <summary>
/// The films in SQLite: the JSON in a table, and, if asked, the same fields searchable as Treepie's automatic index makes them.
/// </summary>
internal sealed class SqliteMovies : IDisposable
{
    private readonly Sqlite database;
    private readonly Sqlite.Statement insert;
    private readonly Sqlite.Statement? insertText;
    private readonly Sqlite.Statement load;
    private readonly Sqlite.Statement byYear;

    /// <summary>Creates the tables.</summary>
    public SqliteMovies(string path, bool indexed)
    {
        database = new Sqlite(path);
        database.Execute("create table movies(n integer primary key, id text unique, json text)");
        if (indexed)
        {
            database.Execute("create index movies_year on movies(json_extract(json, '$.year'), json_extract(json, '$.title'))");
            database.Execute("create virtual table movies_text using fts5(extract, content='')");
            insertText = database.Prepare("insert into movies_text(rowid, extract) values (?, ?)");
        }

        insert = database.Prepare("insert into movies(n, id, json) values (?, ?, ?)");
        load = database.Prepare("select json from movies where id = ?");
        byYear = database.Prepare(
            "select json from movies where json_extract(json, '$.year') = ? order by json_extract(json, '$.title') limit 10");
    }

    /// <summary>Inserts a batch in one durable transaction.</summary>
    public void Insert(Movie[] batch, ref int last)
    {
        database.Execute("begin");
        foreach (Movie movie in batch)
        {
            last++;
            insert.Bind(1, last).Bind(2, movie.Id).Bind(3, movie.PlainJson).Step();
            insertText?.Bind(1, last).Bind(2, movie.Extract).Step();
        }

        database.Execute("commit");
    }

    /// <summary>Length of a film's JSON.</summary>
    public int Load(string id)
    {
        load.Bind(1, id).Step();
        int length = load.Text(0).Length;
        load.Reset();
        return length;
    }

    /// <summary>The first ten films of a year by title: their number.</summary>
    public int ByYear(long year)
    {
        byYear.Bind(1, year);
        int found = 0;
        while (byYear.Step())
            found += byYear.Text(0).Length > 0 ? 1 : 0;
        return found;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        byYear.Dispose();
        load.Dispose();
        insertText?.Dispose();
        insert.Dispose();
        database.Dispose();
    }
}
