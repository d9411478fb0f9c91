using System.Diagnostics;
using Treepie.Bench.Peers;

namespace Treepie.Bench.Suites.Search;

/// <summary>
/// The texts in SQLite: words in FTS5, without the texts themselves, numbers and groups in an ordinary table with indexes. Row
/// ids are places from 1.
/// </summary>
internal sealed class SqliteVerses : ISearchEngine
{
    private readonly Sqlite _database;
    private readonly Dictionary<SearchForm, Sqlite.Statement> _statements = [];

    public SqliteVerses(string path)
    {
        _database = new Sqlite(path);
        _database.Execute(
            "create virtual table if not exists verses using fts5(text, content='', tokenize='unicode61 remove_diacritics 0')");
        _database.Execute("create table if not exists numbers(id integer primary key, tr text, num integer, day integer)");
        _database.Execute("create index if not exists by_num on numbers(num)");
        _database.Execute("create index if not exists by_day on numbers(day)");
    }

    public string Name => "SQLite FTS5";

    public bool HasCompiler => false;

    /// <summary>Indexes a file of documents, a durable transaction for each batch; ends with FTS5's own optimization.</summary>
    public int Load(string file, int batchSize)
    {
        using Sqlite.Statement text = _database.Prepare("insert into verses(rowid, text) values (?, ?)");
        using Sqlite.Statement number = _database.Prepare("insert into numbers values (?, ?, ?, ?)");
        int count = 0;
        _database.Execute("begin");
        foreach (string line in File.ReadLines(file))
        {
            SearchDocument document = SearchDocument.Parse(line);
            count++;
            text.Bind(1, count).Bind(2, document.Text).Step();
            number.Bind(1, count).Bind(2, document.Group).Bind(3, document.Number).Bind(4, document.Day).Step();
            if (count % batchSize == 0)
                _database.Execute("commit; begin");
        }

        _database.Execute("commit");
        return count;
    }

    /// <summary>Brings the words into the form that is read fastest.</summary>
    public void Optimize()
    {
        _database.Execute("insert into verses(verses) values ('optimize')");
        _database.Execute("analyze");
        _database.Execute("pragma wal_checkpoint(truncate)");
    }

    public SearchAnswer?[] Ask(IReadOnlyList<SearchQuestion> questions, double milliseconds = 0) =>
        SearchTurn.Ask(questions, milliseconds, Ask);

    public void Dispose()
    {
        foreach (Sqlite.Statement statement in _statements.Values)
            statement.Dispose();
        _database.Dispose();
    }

    private static string Sql(SearchForm form) => form switch
    {
        SearchForm.CountAll or SearchForm.CountAny => "select count(*) from verses where verses match ?",
        SearchForm.Prefix => "select rowid from verses where verses match ? limit 10",
        SearchForm.RangeByNumber => "select id from numbers where num between ? and ? order by num limit 10",
        SearchForm.AllByDay => "select id from numbers order by day limit 10",
        SearchForm.TermByNumber =>
            "select id from numbers where id in (select rowid from verses where verses match ?) order by num limit 10",
        SearchForm.TermRangeByNumber =>
            "select id from numbers where id in (select rowid from verses where verses match ?) and num between ? and ? order by "
                + "num limit 10",
        SearchForm.Facet =>
            "select tr, count(*) from numbers where id in (select rowid from verses where verses match ?) group by tr",
        _ => "select rowid from verses where verses match ? order by rank limit 10",
    };

    private SearchAnswer Ask(SearchQuestion question)
    {
        if (!_statements.TryGetValue(question.Form, out Sqlite.Statement? statement))
            _statements.Add(question.Form, statement = _database.Prepare(Sql(question.Form)));
        var ids = new List<long>();
        long began = Stopwatch.GetTimestamp();
        int next = 1;
        if (question.Words.Length > 0)
            statement.Bind(next++, question.Match);
        if (question.Form is SearchForm.RangeByNumber or SearchForm.TermRangeByNumber)
            statement.Bind(next, question.Low).Bind(next + 1, question.High);
        long total = 0;
        while (statement.Step())
        {
            switch (question.Form)
            {
                case SearchForm.CountAll or SearchForm.CountAny:
                    total = statement.Long(0);
                    break;
                case SearchForm.Facet:
                    total += statement.Long(1);
                    break;
                default:
                    ids.Add(statement.Long(0) - 1);
                    total++;
                    break;
            }
        }

        double microseconds = Stopwatch.GetElapsedTime(began).TotalMicroseconds;
        return new SearchAnswer(
            total, question.Form is SearchForm.CountAll or SearchForm.CountAny or SearchForm.Facet, microseconds, [.. ids], []);
    }
}
