using System.Collections;
using System.Linq.Expressions;
using System.Text.Json.Nodes;
using Treepie.Queries;

namespace Treepie.Linq;

/// <summary>A LINQ query.</summary>
internal sealed class DocumentQueryable<T> : IDocumentQueryable<T>, IModelQueryable
{
    public DocumentQueryable(QueryModel model)
    {
        Model = model;
        Expression = Expression.Constant(this, typeof(IDocumentQueryable<T>));
    }

    public QueryModel Model { get; }

    public Type ElementType => typeof(T);

    public Expression Expression { get; }

    public IQueryProvider Provider => DocumentQueryProvider.Instance;

    public IDocumentQueryable<T> Where(Expression<Func<T, bool>> predicate) => With(Model.Where(Checked(predicate)));

    public IDocumentQueryable<T> Where(Expression<Func<T, bool>> predicate, bool exact) =>
        With(Model.Where(Checked(predicate), exact));

    public IDocumentQueryable<T> Filter(Expression<Func<T, bool>> predicate, int limit = int.MaxValue)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(limit);
        return With(Model.Filter(Checked(predicate), limit));
    }

    public IDocumentQueryable<T> Search(
        Expression<Func<T, object?>> member, string words, bool allWords = false, double boost = 1)
    {
        ArgumentNullException.ThrowIfNull(words);
        DocumentLambda path = Model.OnDocument(Checked(member));
        return With(Model.Where(t =>
        {
            Clause search = t.Methods.Search(t.Paths.Of(path).Text, words, allWords);
            return boost == 1 ? search : t.Methods.Boost(search, boost);
        }));
    }

    public IDocumentQueryable<T> Spatial(
        Expression<Func<T, double>> latitude, Expression<Func<T, double>> longitude, SpatialCriteria criteria)
    {
        ArgumentNullException.ThrowIfNull(criteria);
        (DocumentLambda first, DocumentLambda second) =
            (Model.OnDocument(Checked(latitude)), Model.OnDocument(Checked(longitude)));
        return With(
            Model.Where(
                t => criteria.Condition($"spatial.point({t.Paths.Of(first).Text}, {t.Paths.Of(second).Text})", t.Parameters)));
    }

    public IDocumentQueryable<T> Spatial(Expression<Func<T, string?>> wkt, SpatialCriteria criteria)
    {
        ArgumentNullException.ThrowIfNull(criteria);
        DocumentLambda path = Model.OnDocument(Checked(wkt));
        return With(Model.Where(t => criteria.Condition($"spatial.wkt({t.Paths.Of(path).Text})", t.Parameters)));
    }

    public IDocumentQueryable<T> VectorSearch(
        Expression<Func<T, object?>> member, float[] vector, double? minimumSimilarity = null, int numberOfCandidates = 16,
        bool exact = false)
    {
        ArgumentNullException.ThrowIfNull(vector);
        DocumentLambda path = Model.OnDocument(Checked(member));
        return With(Model.Where(t =>
        {
            string arguments =
                $"{t.Paths.Of(path).Text}, {t.Parameters.Add(vector)}, {t.Parameters.Add(minimumSimilarity)}, "
                    + $"{t.Parameters.Add(numberOfCandidates)}";
            return new Clause(exact ? $"exact(vector.search({arguments}))" : $"vector.search({arguments})");
        }));
    }

    public IDocumentQueryable<T> MoreLikeThis(string documentId, MoreLikeThisOptions? options = null)
    {
        ArgumentNullException.ThrowIfNull(documentId);
        JsonObject? json = options?.ToJson();
        return With(Model.Where(t => new Clause(
            $"moreLikeThis(id() = {t.Parameters.Add(documentId)}{(json is null ? "" : ", " + t.Parameters.AddJson(json))})")));
    }

    public IDocumentQueryable<T> OrderBy<TKey>(Expression<Func<T, TKey>> key) =>
        With(Model.OrderBy(Checked(key), descending: false, isFirst: true));

    public IDocumentQueryable<T> OrderByDescending<TKey>(Expression<Func<T, TKey>> key) =>
        With(Model.OrderBy(Checked(key), descending: true, isFirst: true));

    public IDocumentQueryable<T> ThenBy<TKey>(Expression<Func<T, TKey>> key) =>
        With(Model.OrderBy(Checked(key), descending: false, isFirst: false));

    public IDocumentQueryable<T> ThenByDescending<TKey>(Expression<Func<T, TKey>> key) =>
        With(Model.OrderBy(Checked(key), descending: true, isFirst: false));

    public IDocumentQueryable<T> OrderByScore() => With(Model.OrderBy(_ => "score()", isFirst: false));

    public IDocumentQueryable<T> OrderByDistance(
        Expression<Func<T, double>> latitude, Expression<Func<T, double>> longitude, double fromLatitude, double fromLongitude,
        bool descending = false)
    {
        (DocumentLambda first, DocumentLambda second) =
            (Model.OnDocument(Checked(latitude)), Model.OnDocument(Checked(longitude)));
        return With(Model.OrderBy(
            t =>
            {
                string centre = SpatialShape.Point(fromLatitude, fromLongitude).Text(t.Parameters);
                return $"spatial.distance(spatial.point({t.Paths.Of(first).Text}, {t.Paths.Of(second).Text}), "
                    + $"{centre}){(descending ? " desc" : "")}";
            },
            isFirst: false));
    }

    public IDocumentQueryable<T> OrderByRandom(string seed)
    {
        ArgumentNullException.ThrowIfNull(seed);
        return With(Model.OrderBy(t => $"random({t.Parameters.Add(seed)})", isFirst: false));
    }

    public IDocumentQueryable<TResult> Select<TResult>(Expression<Func<T, TResult>> selector) =>
        new DocumentQueryable<TResult>(Model.Select(Checked(selector)));

    public IDocumentQueryable<TResult> ProjectInto<TResult>() =>
        new DocumentQueryable<TResult>(Model.ProjectInto(typeof(TResult)));

    public IDocumentQueryable<TResult> OfType<TResult>()
        where TResult : class =>
        new DocumentQueryable<TResult>(Model.OfType(typeof(TResult), Model.Session.ReadResult<TResult>));

    public IDocumentQueryable<T> Distinct() => With(Model.Distinct());

    public IDocumentQueryable<T> DistinctBy<TKey>(Expression<Func<T, TKey>> key) => With(Model.DistinctBy(Checked(key)));

    public IDocumentQueryable<T> Skip(int count) => With(Model.Page(Math.Max(0, count), long.MaxValue));

    public IDocumentQueryable<T> Take(int count) => With(Model.Page(0, Math.Max(0, count)));

    public IDocumentQueryable<T> Include(Expression<Func<T, object?>> member)
    {
        DocumentLambda path = Model.OnDocument(Checked(member));
        return Including(t => t.Paths.Of(path).Text);
    }

    public IDocumentQueryable<T> Include(string path)
    {
        ArgumentException.ThrowIfNullOrWhiteSpace(path);
        return Including(_ => $"'{path.Replace("'", "''", StringComparison.Ordinal)}'");
    }

    public IDocumentQueryable<T> Include(Action<IncludeBuilder<T>> includes)
    {
        ArgumentNullException.ThrowIfNull(includes);
        if (Model.Projection is not null || Model.Into is not null)
            throw new NotSupportedException("Include with several parts must come before Select: it is about documents.");
        var builder = new IncludeBuilder<T>();
        includes(builder);
        IEnumerable<Func<Translation, string>> parts =
            builder.Parts.Select(part => (Func<Translation, string>)part.Text);
        return With(Model with { Includes = [.. Model.Includes, .. parts] });
    }

    public IDocumentQueryable<T> Highlight(
        Expression<Func<T, object?>> member, int fragmentLength, int fragmentCount, out QueryNotes highlights)
    {
        var notes = new QueryNotes();
        DocumentLambda path = Model.OnDocument(Checked(member));
        highlights = notes;
        return Including(
            t => $"highlight({t.Paths.Of(path).Text}, {t.Parameters.Add(fragmentLength)}, {t.Parameters.Add(fragmentCount)})",
            results => notes.Json = QueryRun.Json(results.WriteHighlightings));
    }

    public IDocumentQueryable<T> Statistics(out QueryStatistics statistics)
    {
        statistics = new QueryStatistics();
        return With(Model with { WantsStatistics = true, Observers = [.. Model.Observers, statistics.Fill] });
    }

    public IDocumentQueryable<T> Timings(out QueryNotes timings)
    {
        var notes = new QueryNotes();
        timings = notes;
        return Including(_ => "timings()", results => notes.Json = QueryRun.Json(results.WriteTimings));
    }

    public IDocumentQueryable<T> Explain(out QueryNotes explanations)
    {
        var notes = new QueryNotes();
        explanations = notes;
        return Including(_ => "explanations()", results => notes.Json = QueryRun.Json(results.WriteExplanations));
    }

    public IDocumentQueryable<T> AllowStale() => With(Model with { AllowsStale = true });

    public IDocumentQueryable<T> WaitForNonStaleResults(TimeSpan? timeout = null) =>
        With(Model with { Waits = true, WaitTimeout = timeout });

    public GroupQuery<TKey, T> GroupBy<TKey>(Expression<Func<T, TKey>> key) => new(Model, Checked(key));

    public FacetQuery<T> AggregateBy(Expression<Func<T, object?>> member, string? name = null)
    {
        DocumentLambda path = Model.OnDocument(Checked(member));
        return new FacetQuery<T>(Model, [], [t => t.Paths.Of(path).Text], name);
    }

    public async Task<IReadOnlyList<string>> SuggestUsingAsync(
        Expression<Func<T, object?>> member, string text, bool words = false, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(text);
        DocumentLambda path = Model.OnDocument(Checked(member));
        RqlStatement statement = Model.TranslateOnIndex(t =>
        {
            string field = t.Paths.Of(path).Text;
            return $" select suggest({(words ? $"search({field})" : field)}, {t.Parameters.Add(text)})";
        });
        using QueryResults results = await Model.Session.QueryAsync(Model.Request(statement), cancellationToken)
            .ConfigureAwait(false);
        return [.. results.Suggestions.SelectMany(result => result.Suggestions).Select(suggestion => suggestion.Term)];
    }

    public IReadOnlyList<string> SuggestUsing(Expression<Func<T, object?>> member, string text, bool words = false) =>
        SuggestUsingAsync(member, text, words).GetAwaiter().GetResult();

    public Task<List<T>> ToListAsync(CancellationToken cancellationToken = default) =>
        QueryRun.ToListAsync<T>(Model, cancellationToken);

    public async Task<T[]> ToArrayAsync(CancellationToken cancellationToken = default) =>
        [.. await ToListAsync(cancellationToken).ConfigureAwait(false)];

    public async Task<T> FirstAsync(CancellationToken cancellationToken = default) =>
        ResultRows.First(await PageAsync(1, cancellationToken).ConfigureAwait(false));

    public Task<T> FirstAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default) =>
        Where(predicate).FirstAsync(cancellationToken);

    public async Task<T?> FirstOrDefaultAsync(CancellationToken cancellationToken = default) =>
        (await PageAsync(1, cancellationToken).ConfigureAwait(false)).FirstOrDefault();

    public Task<T?> FirstOrDefaultAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default) =>
        Where(predicate).FirstOrDefaultAsync(cancellationToken);

    public async Task<T> SingleAsync(CancellationToken cancellationToken = default) =>
        ResultRows.Single(await PageAsync(2, cancellationToken).ConfigureAwait(false));

    public Task<T> SingleAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default) =>
        Where(predicate).SingleAsync(cancellationToken);

    public Task<T?> SingleOrDefaultAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default) =>
        Where(predicate).SingleOrDefaultAsync(cancellationToken);

    public async Task<T?> SingleOrDefaultAsync(CancellationToken cancellationToken = default) =>
        ResultRows.SingleOrDefault(await PageAsync(2, cancellationToken).ConfigureAwait(false));

    public async Task<T> LastAsync(CancellationToken cancellationToken = default) =>
        ResultRows.First(await LastPageAsync(cancellationToken).ConfigureAwait(false));

    public async Task<T?> LastOrDefaultAsync(CancellationToken cancellationToken = default) =>
        (await LastPageAsync(cancellationToken).ConfigureAwait(false)).FirstOrDefault();

    public async Task<bool> AnyAsync(CancellationToken cancellationToken = default) =>
        (await PageAsync(1, cancellationToken).ConfigureAwait(false)).Count > 0;

    public Task<bool> AnyAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default) =>
        Where(predicate).AnyAsync(cancellationToken);

    public async Task<bool> AllAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default) =>
        !await With(Model.WhereNot(Checked(predicate))).AnyAsync(cancellationToken).ConfigureAwait(false);

    public async Task<TValue> SumAsync<TValue>(
        Expression<Func<T, TValue>> member, CancellationToken cancellationToken = default) =>
        (TValue)(await AggregateAsync("Sum", member, cancellationToken).ConfigureAwait(false))!; // a sum is never null

    public async Task<TValue> MinAsync<TValue>(
        Expression<Func<T, TValue>> member, CancellationToken cancellationToken = default) =>
        (TValue)(await AggregateAsync("Min", member, cancellationToken).ConfigureAwait(false))!; // null only if TValue allows it

    public async Task<TValue> MaxAsync<TValue>(
        Expression<Func<T, TValue>> member, CancellationToken cancellationToken = default) =>
        (TValue)(await AggregateAsync("Max", member, cancellationToken).ConfigureAwait(false))!; // null only if TValue allows it

    public async Task<double?> AverageAsync<TValue>(
        Expression<Func<T, TValue>> member, CancellationToken cancellationToken = default) =>
        await AggregateAsync("Average", member, cancellationToken).ConfigureAwait(false) is { } average
            ? Convert.ToDouble(average, System.Globalization.CultureInfo.InvariantCulture)
            : null;

    public async Task<int> CountAsync(CancellationToken cancellationToken = default) =>
        checked((int)await LongCountAsync(cancellationToken).ConfigureAwait(false));

    public Task<int> CountAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default) =>
        Where(predicate).CountAsync(cancellationToken);

    public Task<long> LongCountAsync(CancellationToken cancellationToken = default) =>
        QueryRun.CountAsync<T>(Model, cancellationToken);

    public Task<long> LongCountAsync(Expression<Func<T, bool>> predicate, CancellationToken cancellationToken = default) =>
        Where(predicate).LongCountAsync(cancellationToken);

    public Lazy<IEnumerable<T>> Lazily() =>
        Waiting.Query<IEnumerable<T>>(async stop => await ToListAsync(stop).ConfigureAwait(false));

    public Lazy<Task<IEnumerable<T>>> LazilyAsync() =>
        Waiting.QueryAsync<IEnumerable<T>>(async stop => await ToListAsync(stop).ConfigureAwait(false));

    public Lazy<int> CountLazily() => Waiting.Query(CountAsync);

    public Lazy<Task<int>> CountLazilyAsync() => Waiting.QueryAsync(CountAsync);

    public IAsyncEnumerator<T> GetAsyncEnumerator(CancellationToken cancellationToken = default) =>
        QueryRun.RowsAsync<T>(Model, cancellationToken).GetAsyncEnumerator(cancellationToken);

    public IEnumerator<T> GetEnumerator() => ToListAsync().GetAwaiter().GetResult().GetEnumerator();

    IEnumerator IEnumerable.GetEnumerator() => GetEnumerator();

    public RqlStatement ToRql() => Model.Translate().Statement;

    public override string ToString() => ToRql().ToString();

    /// <summary>Executes a LINQ operator with a single result.</summary>
    public object? Execute(string name) => name switch
    {
        "First" => FirstAsync().GetAwaiter().GetResult(),
        "FirstOrDefault" => FirstOrDefaultAsync().GetAwaiter().GetResult(),
        "Last" => LastAsync().GetAwaiter().GetResult(),
        "LastOrDefault" => LastOrDefaultAsync().GetAwaiter().GetResult(),
        "Single" => SingleAsync().GetAwaiter().GetResult(),
        "SingleOrDefault" => SingleOrDefaultAsync().GetAwaiter().GetResult(),
        "Any" => AnyAsync().GetAwaiter().GetResult(),
        "Count" => CountAsync().GetAwaiter().GetResult(),
        "LongCount" => LongCountAsync().GetAwaiter().GetResult(),
        _ => throw new NotSupportedException(DocumentQueryProvider.AdviceFor(name)),
    };

    /// <summary>Returns the query with another model, for operators that keep the type of the results.</summary>
    public IModelQueryable Changed(QueryModel model) => new DocumentQueryable<T>(model);

    /// <summary>The lazy operations that the query joins; rejects untranslatable queries first.</summary>
    private ILazyOperations Waiting
    {
        get
        {
            Model.Translate();
            return Model.Session.Lazy;
        }
    }

    private static TLambda Checked<TLambda>(TLambda lambda)
        where TLambda : LambdaExpression
    {
        ArgumentNullException.ThrowIfNull(lambda);
        return lambda;
    }

    private static DocumentQueryable<T> With(QueryModel model) => new(model);

    private DocumentQueryable<T> Including(Func<Translation, string> include, Action<QueryResults>? observer = null) =>
        With(Model with
        {
            Includes = [.. Model.Includes, include],
            Observers = observer is null ? Model.Observers : [.. Model.Observers, observer],
        });

    /// <summary>Returns the last result, as the only one of a list, or none.</summary>
    private async Task<List<T>> LastPageAsync(CancellationToken cancellationToken) =>
        Model.IsPaged || Model.ComparesRows
            ? [.. (await ToListAsync(cancellationToken).ConfigureAwait(false)).TakeLast(1)]
            : await With(Model.Reversed()).PageAsync(1, cancellationToken).ConfigureAwait(false);

    private Task<object?> AggregateAsync<TValue>(
        string name, Expression<Func<T, TValue>> member, CancellationToken cancellationToken) =>
        QueryRun.AggregateAsync(Model.Select(Checked(member)), name, typeof(TValue), cancellationToken);

    private Task<List<T>> PageAsync(int count, CancellationToken cancellationToken) =>
        QueryRun.ToListAsync<T>(Model.Page(0, count), cancellationToken);
}
