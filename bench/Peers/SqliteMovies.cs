using Treepie.Bench.Measuring;

namespace Treepie.Bench.Peers;

/// <summary>
/// The films in SQLite: the JSON in a table, and, if asked, the same fields searchable as Treepie's automatic index makes them.
/// </summary>
internal sealed class SqliteMovies : IDisposable
{
    private readonly Sqlite _database;
    private readonly Sqlite.Statement _insert;
    private readonly Sqlite.Statement? _insertText;
    private readonly Sqlite.Statement _load;
    private readonly Sqlite.Statement _byYear;

    /// <summary>Creates the tables.</summary>
    public SqliteMovies(string path, bool indexed)
    {
        _database = new Sqlite(path);
        _database.Execute("create table movies(n integer primary key, id text unique, json text)");
        if (indexed)
        {
            _database.Execute("create index movies_year on movies(json_extract(json, '$.year'), json_extract(json, '$.title'))");
            _database.Execute("create virtual table movies_text using fts5(extract, content='')");
            _insertText = _database.Prepare("insert into movies_text(rowid, extract) values (?, ?)");
        }

        _insert = _database.Prepare("insert into movies(n, id, json) values (?, ?, ?)");
        _load = _database.Prepare("select json from movies where id = ?");
        _byYear = _database.Prepare(
            "select json from movies where json_extract(json, '$.year') = ? order by json_extract(json, '$.title') limit 10");
    }

    /// <summary>Inserts a batch in one durable transaction.</summary>
    public void Insert(Movie[] batch, ref int last)
    {
        _database.Execute("begin");
        foreach (Movie movie in batch)
        {
            last++;
            _insert.Bind(1, last).Bind(2, movie.Id).Bind(3, movie.PlainJson).Step();
            _insertText?.Bind(1, last).Bind(2, movie.Extract).Step();
        }

        _database.Execute("commit");
    }

    /// <summary>Length of a film's JSON.</summary>
    public int Load(string id)
    {
        _load.Bind(1, id).Step();
        int length = _load.Text(0).Length;
        _load.Reset();
        return length;
    }

    /// <summary>The first ten films of a year by title: their number.</summary>
    public int ByYear(long year)
    {
        _byYear.Bind(1, year);
        int found = 0;
        while (_byYear.Step())
            found += _byYear.Text(0).Length > 0 ? 1 : 0;
        return found;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _byYear.Dispose();
        _load.Dispose();
        _insertText?.Dispose();
        _insert.Dispose();
        _database.Dispose();
    }
}
